/** The codec of an existing or new run; uses the host's key if its values are sealed. */
import { AgentdumpError } from '../../errors.ts';
import { recordKinds } from '../../journal/layout/records.ts';
import type { StoredRecord } from '../stores/store.ts';
import { RecordCodec } from './codec.ts';
import type { RunRecord } from './layout.ts';
import { readKey, Seal } from './seal.ts';

export interface CodecKeys {
  /** Default: AGENTDUMP_RUN_KEY. */
  key?: string | Uint8Array | undefined;
  plain?: boolean | undefined;
}

/** A run is sealed from its beginning or not at all. Throws `locked` without the key or with another one. */
export function openCodec(records: readonly StoredRecord[], { key, plain = false }: CodecKeys): RecordCodec {
  const begun = readBeginning(records);
  const found = findKey(key);
  if (!begun) return new RecordCodec({ seal: found && Seal.create(found), plain });
  if (!begun.seal) return new RecordCodec({ plain });
  if (found) return new RecordCodec({ seal: Seal.reopen(found, begun.seal), plain });
  throw new AgentdumpError('locked', "the run's values are sealed: set AGENTDUMP_RUN_KEY", { path: 'key' });
}

function findKey(key: string | Uint8Array | undefined): Uint8Array | undefined {
  const found = key ?? process.env['AGENTDUMP_RUN_KEY'];
  return found === undefined || found === '' ? undefined : readKey(found);
}

function readBeginning(records: readonly StoredRecord[]) {
  const first = records.find(({ kind }) => kind === recordKinds.durableRun);
  const facts = first && new RecordCodec({}).decode<RunRecord>(first.payload).facts;
  return facts?.event === 'begin' ? facts : undefined;
}
