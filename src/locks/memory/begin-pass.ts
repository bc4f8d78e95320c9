import type { Call } from './call.js';
import { willWrite } from './hold-writes.js';

/** From here on what an older pass has sent enters nothing, however late it comes. Not where a later one has begun. */
export function beginPass(call: Call, pass: string): 'begun' | 'older-pass' {
  const number = BigInt(pass);
  if (number < call.space.pass) return 'older-pass';
  if (number > call.space.pass) {
    willWrite(call);
    call.space.pass = number;
  }
  return 'begun';
}
