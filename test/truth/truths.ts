/**
 * Deaths and the truth about each, written down before the program is run: the kind, what the first screen must name, and the
 * state of the work. It is derived from what the programs do, not from what the tool prints. The helpers that the programs
 * use are in `victim.ts`.
 */
import { agentTruths } from './truths-agents.ts';
import { earlyEndTruths } from './truths-early-ends.ts';
import { examinedTruths } from './truths-examined.ts';
import { firstSightTruths } from './truths-first-sight.ts';
import { frameworkTruths } from './truths-frameworks.ts';
import { mixedTruths } from './truths-mixed.ts';
import { nodeCodeTruths } from './truths-node-code.ts';
import { outsideTruths } from './truths-outside.ts';
import { passedOnTruths } from './truths-passed-on.ts';
import { programTruths } from './truths-programs.ts';
import { trialTruths } from './truths-trial.ts';
import { unownedTruths } from './truths-unowned.ts';
import { unseenTruths } from './truths-unseen.ts';
import { whoseTruths } from './truths-whose.ts';

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  /** The text of the message. */
  text?: string;
  finish?: string;
  tools?: { id: string; name: string; arguments: string }[];
  /** The body of an error reply. */
  error?: string;
  /** `cut`: the connection closes during the reply. `stall`: the reply stops in the middle. `silent`: nothing is sent. */
  fault?: 'cut' | 'stall' | 'silent';
}

export interface Truth {
  name: string;
  /** The body of a module; `victim.ts` has the names that it can use. */
  program: string;
  replies?: Reply[];
  /** It loads packages of that folder of `test`, which only the wide run installs. */
  frameworks?: 'agents' | 'servers';
  /** Sent when the program prints `ready`. */
  signal?: NodeJS.Signals;
  /** Run under `agentdump run`, because the process itself can't write anything. */
  supervised?: true;
  env?: Record<string, string>;
  /** What the account does not report yet, and why. The test fails as soon as it does report it. */
  miss?: string;
  /** Also in the default run. */
  quick?: true;
  kind: string;
  /** Each must match the first screen. */
  cause: RegExp[];
  /** What was open, one pattern each. Empty: nothing was. Undefined: not checked. */
  open?: RegExp[];
  requested?: RegExp[];
  /** Must not match the first screen. */
  never?: RegExp[];
}

export const truths: readonly Truth[] = [
  ...programTruths,
  ...agentTruths,
  ...mixedTruths,
  ...examinedTruths,
  ...nodeCodeTruths,
  ...unownedTruths,
  ...trialTruths,
  ...outsideTruths,
  ...frameworkTruths,
  ...firstSightTruths,
  ...earlyEndTruths,
  ...unseenTruths,
  ...whoseTruths,
  ...passedOnTruths,
];
