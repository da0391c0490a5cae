/**
 * Checkpoints of a run: what the host wants to keep besides the results of steps (conversation, tool state, open sessions,
 * partial results), with the information to validate it later. If one is damaged, the one before it is used.
 */
import { createHash } from 'node:crypto';
import { AgentdumpError } from '../../errors.ts';
import type { CheckpointEntry } from '../runs/log-entries.ts';
import { readPackageVersions } from '../runs/package-versions.ts';
import type { RunLog } from '../runs/run-log.ts';
import type { RunRecorder } from '../runs/run-recorder.ts';
import type { RecordCodec } from './codec.ts';
import type { CheckpointRecord } from './layout.ts';
import { PieceWriter, readPiece } from './pieces.ts';

/** By part: `conversation`, `tools`, `sessions`, `partial`, or any name that the host chooses. */
export type CheckpointContents = Record<string, unknown>;

export type CheckpointEvent = 'step' | 'tool' | 'run' | 'approval';

export interface CheckpointPlan {
  contents: () => CheckpointContents;
  everyMs?: number;
  everySteps?: number;
  /** After each of these events. */
  on?: readonly CheckpointEvent[];
}

export interface RestoredCheckpoint {
  id: string;
  label: string | undefined;
  at: Date;
  schema: number;
  parts: CheckpointContents;
}

export interface CheckpointSettings {
  plan: CheckpointPlan | undefined;
  schema: number;
  upgrade: ((parts: CheckpointContents, from: number) => CheckpointContents) | undefined;
  configHash: string | undefined;
  fsync: 'none' | 'step' | 'checkpoint';
  notify: (line: string) => void;
}

const format = 1;

export class Checkpoints {
  readonly #recorder: RunRecorder;
  readonly #log: RunLog;
  readonly #settings: CheckpointSettings;
  readonly #pieces: PieceWriter;
  readonly #timer: NodeJS.Timeout | undefined;
  #count: number;
  #stepsSince = 0;
  #isTaking = false;

  constructor(recorder: RunRecorder, codec: RecordCodec, log: RunLog, settings: CheckpointSettings) {
    this.#recorder = recorder;
    this.#log = log;
    this.#settings = settings;
    this.#pieces = new PieceWriter(recorder, codec, log);
    this.#count = Math.max(0, ...log.checkpoints.map(({ record }) => Number(record.id.slice(1)) || 0));
    const { everyMs } = settings.plan ?? {};
    if (everyMs !== undefined) this.#timer = setInterval(() => this.#takePlanned('timer'), everyMs).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Returns the checkpoint's id. Throws for contents that can't be stored. */
  async take(label: string | undefined, position: string, contents: CheckpointContents): Promise<string> {
    const parts: Record<string, string> = {};
    for (const [name, value] of Object.entries(contents)) parts[name] = await this.#pieces.write(value);
    const { schema, configHash, fsync } = this.#settings;
    const facts: Omit<CheckpointRecord, 'sha256'> = {
      id: `c${++this.#count}`,
      ...(label !== undefined && { label }),
      at: new Date().toISOString(),
      format,
      schema,
      ...(configHash !== undefined && { configHash }),
      node: process.version,
      packages: readPackageVersions(),
      position,
      parts,
    };
    const record = { ...facts, sha256: sumOf(facts) };
    if (fsync === 'none') await this.#recorder.add('durableCheckpoint', record);
    else await this.#recorder.addSynced('durableCheckpoint', record);
    return record.id;
  }

  /** An event of the plan has happened. */
  noteEvent(event: CheckpointEvent): void {
    const { plan } = this.#settings;
    if (!plan) return;
    if (event !== 'approval') this.#stepsSince++;
    if (plan.on?.includes(event) || this.#stepsSince >= (plan.everySteps ?? Number.POSITIVE_INFINITY))
      this.#takePlanned(event);
  }

  /** The newest intact one; reports those that are not. Throws `unsupported-version` for a schema that can't be upgraded. */
  restore(): RestoredCheckpoint | undefined {
    for (const entry of this.#log.checkpoints.toReversed()) {
      const parts = this.#tryRead(entry);
      if (parts) return this.#upgrade(entry.record, parts);
    }
    return undefined;
  }

  #tryRead({ record }: CheckpointEntry): CheckpointContents | undefined {
    try {
      return readCheckpoint(record, this.#log);
    } catch (error) {
      this.#settings.notify(`checkpoint ${record.id} is left out: ${(error as Error).message}`);
      return undefined;
    }
  }

  #upgrade({ id, label, at, schema }: CheckpointRecord, parts: CheckpointContents): RestoredCheckpoint {
    const { schema: wanted, upgrade } = this.#settings;
    const head = { id, label, at: new Date(at), schema: wanted };
    if (schema === wanted) return { ...head, parts };
    if (schema < wanted && upgrade) return { ...head, parts: upgrade(parts, schema) };
    const message = `checkpoint ${id} has schema ${schema}, the program ${wanted}, and there is no upgrade`;
    throw new AgentdumpError('unsupported-version', message, {
      format: 'checkpoint',
      version: schema,
      supported: wanted,
    });
  }

  /** One at a time. Contents that can't be stored are reported, and the run continues. */
  async #takePlanned(label: string): Promise<void> {
    const { plan, notify } = this.#settings;
    if (!plan || this.#isTaking || this.#recorder.broken) return;
    this.#isTaking = true;
    this.#stepsSince = 0;
    try {
      await this.take(label, '', plan.contents());
    } catch (error) {
      notify(`no checkpoint: ${(error as Error).message}`);
    } finally {
      this.#isTaking = false;
    }
  }
}

/** Throws if it is damaged, incomplete, or from a newer release. */
function readCheckpoint(record: CheckpointRecord, log: RunLog): CheckpointContents {
  const { sha256, ...facts } = record;
  if (facts.format > format)
    throw new Error(`it is of format ${facts.format}, and this release knows ${format}`);
  if (sumOf(facts) !== sha256) throw new Error('its sum does not match');
  return Object.fromEntries(
    Object.entries(record.parts).map(([name, hash]) => [name, readPiece(log.pieces, hash)]),
  );
}

function sumOf(facts: object): string {
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex');
}
