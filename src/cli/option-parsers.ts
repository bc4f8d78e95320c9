import { InvalidArgumentError } from 'commander';
import { HoldfastError, InvalidTask } from '../errors.js';

/** Makes a parser for an option out of a check that throws InvalidTask: what is wrong then names the option. */
export function optionParser<Value>(check: (text: string) => Value): (text: string) => Value {
  return (text) => {
    try {
      return check(text);
    } catch (error) {
      throw error instanceof HoldfastError ? new InvalidArgumentError(error.message) : error;
    }
  };
}

/** For an option that may be given several times: adds its value to those before. */
export function collect(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), text];
}

export function integer(what: string, least: number, most: number): (text: string) => number {
  return optionParser((text) => {
    const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidTask(`${what} must be an integer, ${least} … ${most}.`);
  });
}
