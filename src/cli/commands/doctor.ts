/** `agentdump doctor`: dies in every way on this machine, and shows what survives. */
import type { CommandModule } from 'yargs';
import { analyzeBundle } from '../../analysis/analyze.ts';
import { openBundle } from '../../bundle/reader.ts';
import { escapeTerminal } from '../../report/escape-terminal.ts';
import {
  examineMachine,
  type MachineFact,
  makeScratch,
  type TrialResult,
  tryDeath,
  type Untried,
} from '../../supervise/doctor.ts';
import { trials } from '../../supervise/doctor-trials.ts';
import { exitCodes } from '../exit-codes.ts';
import { print } from '../output.ts';

interface Diagnosis {
  row: number;
  death: string;
  expected: string;
  /** What analysis concludes from what survived; absent when nothing did. */
  verdict?: string;
  confidence?: string;
  /** Who wrote the bundle. */
  caughtBy?: string;
  tookMs: number;
  gaps: string[];
  ok: boolean;
  problem?: string;
}

const command: CommandModule = {
  command: 'doctor',
  describe: 'Die in every way on this machine, and show what survives',
  builder: { json: { type: 'boolean', describe: 'One JSON document', default: false } },
  handler: async (words) => {
    const scratch = makeScratch();
    try {
      const deaths: Diagnosis[] = [];
      const notTried: Untried[] = [];
      for (const trial of trials) {
        const result = await tryDeath(trial, scratch.path);
        const { row, death } = trial;
        if (result.notTried === undefined) deaths.push(await diagnose(result));
        else notTried.push({ row, death, because: result.notTried });
      }
      const machine = examineMachine(scratch.path);
      const report = { nodeVersion: process.version, deaths, notTried, machine };
      print(words['json'] ? JSON.stringify(report) : renderDoctor(deaths, notTried, machine));
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

function renderDoctor(
  deaths: readonly Diagnosis[],
  notTried: readonly Untried[],
  machine: readonly MachineFact[],
): string {
  const head = ['', 'row', 'death', 'verdict', 'caught by', 'took'];
  const rows = deaths.map((one) => [
    one.ok ? '✔' : '✖',
    String(one.row),
    one.death,
    one.verdict
      ? `${one.verdict}${one.ok ? '' : ` (not ${one.expected})`}`
      : (one.problem ?? 'nothing survived'),
    one.caughtBy ?? '',
    `${one.tookMs} ms`,
  ]);
  const untried = notTried.map(({ row, death, because }) => [
    '–',
    String(row),
    death,
    `not tried: ${because}`,
    '',
    '',
  ]);
  const facts = machine.map(
    ({ name, value, advice }) => `  ${name.padEnd(20)}${value}${advice ? `: ${advice}` : ''}`,
  );
  const lines = [...align([head, ...rows, ...untried]), '', 'This machine', ...facts];
  return escapeTerminal(lines.join('\n'));
}

function align(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
