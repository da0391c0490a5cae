/** A rule of the tables statement-rules.ts and tool-rules.ts, and the pieces that their patterns share. */

export interface StatementRule {
  /** What must follow the word, up to the value; a group `name` in it must be a sensitive name. */
  lead: RegExp;
  /** What must precede the word, within 80 characters. */
  before?: RegExp;
  letterBefore?: number | undefined;
  /** What must follow the value. */
  tail?: RegExp;
  /** The word must be in capitals. */
  capitals?: boolean;
  /** The part of the value that is secret. */
  part?: RegExp;
  /** The value must look like a password, because the word has other meanings. */
  chosen?: boolean;
  /** The value may be a word, if it does not describe a secret. */
  typed?: boolean;
  rule?: string;
}

/** Words, separated by blanks, and their rules. */
export type StatementRow = [words: string, ...rules: StatementRule[]];

export const name = String.raw`["']?(?<name>[A-Za-z][\w.-]{1,79})["']?`;
export const blanks = String.raw`[ \t]{1,8}`;
export const lead = (source: string): RegExp => new RegExp(source, 'y');
