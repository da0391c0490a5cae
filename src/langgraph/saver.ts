/**
 * A LangGraph checkpointer on append-only files, one folder per thread. A step costs only its new bytes, and what was
 * acknowledged survives the death of the process. Implements LangGraph's contract and knows nothing of files. Source:
 * BaseCheckpointSaver of @langchain/langgraph-checkpoint 1.2; its validation suite runs in test/langgraph.
 */
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  compareWritesSortKeys,
  type DeltaChannelHistory,
  getCheckpointId,
  maxChannelVersion,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
  writesSortKey,
} from '@langchain/langgraph-checkpoint';
import { AgentdumpError } from '../errors.ts';
import { type Compaction, rewriteThread } from './compact.ts';
import { Draft } from './draft.ts';
import type { CheckpointHead, WritesHead } from './layout.ts';
import { sealSerde } from './sealed-serde.ts';
import type { Thread, ThreadState } from './thread.ts';
import type { SavedCheckpoint, SavedWrite } from './thread-index.ts';
import { Threads } from './threads.ts';
import { loadBlob, loadValue, type Serialized, serialize, store } from './value-codec.ts';

type Config = Parameters<BaseCheckpointSaver['getTuple']>[0];

export interface AgentdumpSaverOptions {
  /** Folder of the threads. Created by the first write, for the owner only. */
  dir: string;
  /** `data`: an acknowledged write also survives a power loss, not only the death of the process. Default: `none`. */
  sync?: 'none' | 'data';
  /** How long a write waits for another process that writes to the same thread, in milliseconds. Default: 5000. */
  lockWaitMs?: number;
  /** Default: LangGraph's JSON serializer. */
  serde?: SerializerProtocol;
  /**
   * 32 bytes, or their text form, to encrypt values. Default: AGENTDUMP_RUN_KEY; without either, values are not encrypted.
   */
  key?: string | Uint8Array;
}

/** Identifies a checkpoint, or its thread. */
interface Place {
  threadId: string;
  ns: string;
  id: string;
}

export class AgentdumpSaver extends BaseCheckpointSaver {
  readonly dir: string;
  readonly #threads: Threads;

  constructor({ dir, sync = 'none', lockWaitMs = 5000, serde, key }: AgentdumpSaverOptions) {
    super(serde);
    this.serde = sealSerde(this.serde, key);
    if (typeof dir !== 'string' || dir === '')
      throw new AgentdumpError('usage', 'new AgentdumpSaver({dir}) needs the name of a folder', {
        argument: 'dir',
      });
    this.dir = dir;
    this.#threads = new Threads(dir, { sync, lockWaitMs });
  }

  /** Throws `malformed-input` if the thread's files are damaged. */
  async getTuple(config: Config): Promise<CheckpointTuple | undefined> {
    const threadId = config.configurable?.['thread_id'];
    if (threadId === undefined) return undefined;
    const place = { threadId, ns: config.configurable?.['checkpoint_ns'] ?? '', id: getCheckpointId(config) };
    const state = this.#threads.get(String(threadId)).read();
    const saved = findCheckpoint(state, place);
    if (!saved) return undefined;
    const tuple = await this.#load(state, { ...place, id: saved.id }, saved);
    return place.id ? { ...tuple, config } : tuple;
  }

  /** Threads are ordered by folder name, namespaces by first use, checkpoints from newest to oldest. */
  async *list(config: Config, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: id } = config.configurable ?? {};
    const before = options.before?.configurable?.['checkpoint_id'] as string | undefined;
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    for (const each of threadId === undefined ? this.#threads.ids() : [threadId as string]) {
      const state = this.#threads.get(each).read();
      for (const [name, checkpoints] of state.index.namespaces) {
        if (ns !== undefined && ns !== name) continue;
        for (const saved of newestFirst(checkpoints)) {
          if ((id && saved.id !== id) || (before && saved.id >= before)) continue;
          if (left <= 0) return;
          const metadata = (await loadBlob(this.serde, state, saved.metadata)) as Record<string, unknown>;
          if (!matches(metadata, options.filter)) continue;
          left--;
          yield await this.#load(state, { threadId: each, ns: name, id: saved.id }, saved);
        }
      }
    }
  }

  /** Once it resolves, the death of the process can't lose the checkpoint. Throws `unwritable`. */
  async put(
    config: Config,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<Config> {
    const threadId = requireText(config, 'thread_id');
    const ns = config.configurable?.['checkpoint_ns'] ?? '';
    const parent = config.configurable?.['checkpoint_id'] as string | undefined;
    const { channel_values: values, id, ...head } = checkpoint;
    const changed = Object.entries(newVersions).filter(([channel]) => Object.hasOwn(values, channel));
    await this.#write(threadId, async (state) => {
      const headBytes = await this.serde.dumpsTyped(head);
      const metadataBytes = await this.serde.dumpsTyped(metadata);
      const channels: [string, string | number, Serialized][] = [];
      for (const [channel, version] of changed)
        channels.push([
          channel,
          version,
          await serialize(this.serde, state, values[channel], state.recent.get(ns + channel)),
        ]);
      return (thread) => {
        const draft = new Draft(state.index);
        const before = parent === undefined ? undefined : state.index.namespaces.get(ns)?.get(parent)?.values;
        const stored = channels.map(([channel, version, value]): CheckpointHead['changed'][number] => {
          const recent = store(draft, state, value, before?.get(channel)?.[1]);
          state.recent.set(ns + channel, recent);
          return [channel, version, recent.value];
        });
        const blobs = { head: draft.addBlob(...headBytes), metadata: draft.addBlob(...metadataBytes) };
        thread.appendCheckpoint(draft, { ns, id, parent, ...blobs, changed: stored });
      };
    });
    return { configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: id } };
  }

  /** Once it resolves, the death of the process can't lose the writes. Throws `unwritable`. */
  async putWrites(config: Config, writes: PendingWrite[], task: string, path = ''): Promise<void> {
    const threadId = requireText(config, 'thread_id');
    const id = requireText(config, 'checkpoint_id');
    const ns = config.configurable?.['checkpoint_ns'] ?? '';
    await this.#write(threadId, async (state) => {
      const values: Serialized[] = [];
      for (const [, value] of writes) values.push(await serialize(this.serde, state, value));
      return (thread) => {
        const draft = new Draft(state.index);
        const stored = writes.map(([channel], index): WritesHead['writes'][number] => [
          WRITES_IDX_MAP[channel] || index,
          channel,
          store(draft, state, values[index]!).value,
        ]);
        thread.appendWrites(draft, { ns, id, task, path, writes: stored });
      };
    });
  }

  /** Once it resolves, the files are gone. Throws `unwritable` while another process writes to the thread. */
  async deleteThread(threadId: string): Promise<void> {
    const thread = this.#threads.get(threadId);
    await thread.lock();
    thread.remove();
    thread.release();
  }

  /**
   * Rewrites threads without data that is no longer needed. `keep` is the number of newest checkpoints of each namespace that
   * are kept (default: all). Graphs with delta channels need all of them.
   */
  async compact({ threadId, keep = Number.POSITIVE_INFINITY }: Compaction = {}): Promise<void> {
    for (const id of threadId === undefined ? this.#threads.ids() : [threadId]) {
      const thread = this.#threads.get(id);
      await thread.lock();
      try {
        rewriteThread(thread, keep);
      } finally {
        thread.release();
      }
    }
  }

  /** Lets other processes write immediately, not only after a pause. The saver can still be used. */
  close(): void {
    this.#threads.release();
  }

  /** Walks up the ancestors once for all channels, and loads only the requested channels. */
  override async getDeltaChannelHistory(options: {
    config: Config;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    const { config, channels } = options;
    const history: Record<string, DeltaChannelHistory> = {};
    for (const channel of channels) history[channel] = { writes: [] };
    const threadId = config.configurable?.['thread_id'];
    if (threadId === undefined) return history;
    const ns = config.configurable?.['checkpoint_ns'] ?? '';
    const state = this.#threads.get(String(threadId)).read();
    let at = parentOf(state, ns, findCheckpoint(state, { threadId, ns, id: getCheckpointId(config) }));
    const open = new Set(channels);
    for (; at && open.size > 0; at = parentOf(state, ns, at)) {
      const writes = await this.#pendingWrites(state, ns, at.id, open);
      for (const write of writes.reverse()) history[write[1]]!.writes.push(write);
      const values = await this.#channelValues(state, at, open);
      for (const [channel, seed] of Object.entries(values)) {
        if (seed === undefined) continue;
        history[channel]!.seed = seed;
        open.delete(channel);
      }
    }
    for (const { writes } of Object.values(history)) writes.reverse();
    return history;
  }

  /** `prepare` serializes and may be asynchronous; the function that it returns writes, synchronously. */
  async #write(
    threadId: string,
    prepare: (state: ThreadState) => Promise<(thread: Thread) => void>,
  ): Promise<void> {
    const thread = this.#threads.get(threadId);
    for (;;) {
      await thread.lock();
      const state = thread.read();
      const write = await prepare(state);
      await thread.lock();
      // Meanwhile the lock may have been released, and another process may have written.
      if (thread.read() === state) return write(thread);
    }
  }

  async #load(
    state: ThreadState,
    { threadId, ns, id }: Place,
    saved: SavedCheckpoint,
  ): Promise<CheckpointTuple> {
    const configOf = (checkpoint: string): Config => ({
      configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: checkpoint },
    });
    const head = (await loadBlob(this.serde, state, saved.head)) as Omit<Checkpoint, 'id' | 'channel_values'>;
    const checkpoint: Checkpoint = { ...head, id, channel_values: await this.#channelValues(state, saved) };
    if (checkpoint.v < 4 && saved.parent !== undefined)
      await this.#moveSends(state, ns, saved.parent, checkpoint);
    return {
      config: configOf(id),
      checkpoint,
      metadata: (await loadBlob(this.serde, state, saved.metadata)) as CheckpointMetadata,
      pendingWrites: await this.#pendingWrites(state, ns, id),
      ...(saved.parent === undefined ? {} : { parentConfig: configOf(saved.parent) }),
    };
  }

  /** The values of the versions that the checkpoint names. */
  async #channelValues(
    state: ThreadState,
    saved: SavedCheckpoint,
    only?: Set<string>,
  ): Promise<Record<string, unknown>> {
    const { channel_versions: versions } = (await loadBlob(this.serde, state, saved.head)) as Checkpoint;
    const entries = [...saved.values].filter(
      ([channel, [version]]) => versions[channel] === version && (!only || only.has(channel)),
    );
    return Object.fromEntries(
      await Promise.all(
        entries.map(
          async ([channel, [, value]]) => [channel, await loadValue(this.serde, state, value)] as const,
        ),
      ),
    );
  }

  async #pendingWrites(
    state: ThreadState,
    ns: string,
    id: string,
    only?: Set<string>,
  ): Promise<CheckpointPendingWrite[]> {
    const writes = state.index.writesOf(ns, id).filter(({ channel }) => !only || only.has(channel));
    writes.sort((a, b) => compareWritesSortKeys(sortKey(a), sortKey(b)));
    return Promise.all(
      writes.map(
        async ({ task, channel, value }): Promise<CheckpointPendingWrite> => [
          task,
          channel,
          await loadValue(this.serde, state, value),
        ],
      ),
    );
  }

  /** Before version 4 of LangGraph's checkpoints, the sends of a step were stored as writes to its parent. */
  async #moveSends(state: ThreadState, ns: string, parent: string, checkpoint: Checkpoint): Promise<void> {
    const writes = await this.#pendingWrites(state, ns, parent, new Set([TASKS]));
    checkpoint.channel_values[TASKS] = writes.map(([, , value]) => value);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }
}

const sortKey = ({ path, task, index }: SavedWrite) => writesSortKey(path, task, index);

/** The newest checkpoint if the place names none. */
function findCheckpoint({ index }: ThreadState, { ns, id }: Place): SavedCheckpoint | undefined {
  const checkpoints = index.namespaces.get(ns);
  return id ? checkpoints?.get(id) : checkpoints && newestFirst(checkpoints)[0];
}

function parentOf({ index }: ThreadState, ns: string, saved?: SavedCheckpoint): SavedCheckpoint | undefined {
  return saved?.parent === undefined ? undefined : index.namespaces.get(ns)?.get(saved.parent);
}

/** Ids sort by time. */
function newestFirst(checkpoints: Map<string, SavedCheckpoint>): SavedCheckpoint[] {
  return [...checkpoints.values()].sort((a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0));
}

function matches(metadata: Record<string, unknown>, filter: Record<string, unknown> = {}): boolean {
  return Object.entries(filter).every(([key, value]) => metadata[key] === value);
}

function requireText(config: Config, key: 'thread_id' | 'checkpoint_id'): string {
  const value: unknown = config.configurable?.[key];
  if (typeof value === 'string' && value !== '') return value;
  throw new AgentdumpError(
    'usage',
    `LangGraph's config has no configurable.${key}: pass one to invoke or stream`,
    {
      argument: key,
    },
  );
}
