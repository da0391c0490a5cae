/** `agentdump doctor`: dies in every known way on this machine, and shows what survives. */
import type { CommandModule } from 'yargs';
import { analyzeBundle } from '../../analysis/analyze.ts';
import { openBundle } from '../../bundle/read/reader.ts';
import { escapeTerminal } from '../../report/escape-terminal.ts';
import {
  examineMachine,
  type MachineFact,
  makeScratch,
  type TrialResult,
  tryDeath,
  type Untried,
} from '../../supervise/doctor/doctor.ts';
import { trials } from '../../supervise/doctor/trials.ts';
import { exitCodes } from '../exit-codes.ts';
import { print } from '../output/output.ts';

interface Diagnosis {
  row: number;
  death: string;
  expected: string;
  /** The conclusion of analysis from what survived; absent if nothing did. */
  verdict?: string;
  confidence?: string;
  /** What wrote the bundle. */
  caughtBy?: string;
  tookMs: number;
  gaps: string[];
  ok: boolean;
  problem?: string;
}

const command: CommandModule = {
  command: 'doctor',
  describe: 'Test on this machine which kinds of death leave a bundle, and with what in it',
  builder: { json: { type: 'boolean', describe: 'Print JSON', default: false } },
  handler: async (words) => {
    const scratch = makeScratch();
    try {
      const deaths: Diagnosis[] = [];
      if (!words['json']) print(columns(['', 'row', 'death', 'verdict', 'caught by', 'took']));
      const notTried: Untried[] = [];
      for (const trial of trials) {
        const result = await tryDeath(trial, scratch.path);
        const { row, death } = trial;
        const found =
          result.notTried === undefined ? await diagnose(result) : { row, death, because: result.notTried };
        if ('because' in found) notTried.push(found);
        else deaths.push(found);
        if (!words['json']) print(rowOf(found));
      }
      const machine = examineMachine(scratch.path);
      const report = { nodeVersion: process.version, deaths, notTried, machine };
      print(words['json'] ? JSON.stringify(report) : renderMachine(machine));
      if (deaths.some((death) => !death.ok)) process.exitCode = exitCodes.explainedWithGaps;
    } finally {
      scratch.remove();
    }
  },
};
export default command;

async function diagnose({ trial, bundle: path, tookMs, problem }: TrialResult): Promise<Diagnosis> {
  const { row, death, expected } = trial;
  const base = { row, death, expected, tookMs, ...(problem !== undefined && { problem }) };
  if (path === undefined) return { ...base, gaps: [], ok: false };
  const bundle = openBundle(path);
  const { verdict, gaps } = await analyzeBundle(bundle);
  const trigger = bundle.readJson<{ kind?: string }>('trigger.json');
  bundle.close();
  const caughtBy =
    trigger?.kind === 'supervised-exit'
      ? 'supervisor'
      : trigger?.kind === 'capture'
        ? 'from outside'
        : 'preload';
  return {
    ...base,
    caughtBy,
    ...(verdict && { verdict: verdict.kind, confidence: verdict.confidence }),
    gaps: gaps.map((gap) => `${gap.part}: ${gap.reason}`),
    ok: verdict?.kind === expected,
  };
}

/** Each trial is printed as it ends, so the widths are fixed. */
function rowOf(one: Diagnosis | Untried): string {
  if ('because' in one)
    return columns(['–', String(one.row), one.death, `not tried: ${one.because}`, '', '']);
  const { row, death, verdict, ok, expected, problem, caughtBy, tookMs } = one;
  const found = verdict ? `${verdict}${ok ? '' : ` (not ${expected})`}` : (problem ?? 'nothing survived');
  return columns([ok ? '✔' : '✖', String(row), death, found, caughtBy ?? '', `${tookMs} ms`]);
}

const deathWidth = Math.max(...trials.map(({ death }) => death.length));
const widths = [1, 3, deathWidth, 22, 12, 0];

function columns(cells: readonly string[]): string {
  const line = cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return escapeTerminal(line.trimEnd());
}

function renderMachine(machine: readonly MachineFact[]): string {
  const facts = machine.map(
    ({ name, value, advice }) => `  ${name.padEnd(20)}${value}${advice ? `: ${advice}` : ''}`,
  );
  return escapeTerminal(['', 'This machine', ...facts].join('\n'));
}
