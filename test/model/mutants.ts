import type { Mutant } from './mutant.js';
import { decisionMutants } from './decision-mutants.js';
import { lockMutants } from './lock-mutants.js';
import { storeMutants } from './store-mutants.js';
import { tableMutants } from './table-mutants.js';

export const mutants: Mutant[] = [...storeMutants, ...tableMutants, ...decisionMutants, ...lockMutants];
