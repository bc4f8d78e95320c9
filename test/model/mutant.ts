/** A text of the sources, which is there exactly once, and what stands there in its place. */
export interface Edit {
  /** Within src. */
  file: string;
  from: string;
  to: string;
}

/** What is left out: in the store of the model by the names of its guards, in the sources by their text. */
export interface LeftOut {
  guardsOff?: string[];
  edits?: Edit[];
}

/** A rule of the protocol left out, and where that is seen. */
export interface Mutant extends LeftOut {
  name: string;
  rule: string;
  scenario: string;
  walks?: number;
  /** Why nothing breaks. */
  explained?: string;
  /** The other guard that makes the rule redundant: with both left out something breaks, in a scenario where neither alone does. */
  onlyWith?: LeftOut & { what: string };
}
