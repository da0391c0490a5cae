/**
 * Performs a step of a run without writing anything: V8 parses and compiles a function when it is first called, and the first
 * record of a process should not wait for that.
 */
import { Checkpoints } from '../records/checkpoint.ts';
import type { RecordCodec } from '../records/codec.ts';
import { performStep } from '../steps/durable-step.ts';
import type { DurableStore, RunHandle } from '../stores/store.ts';
import { DurableRun } from './durable-run.ts';
import { RunLog } from './run-log.ts';
import { RunRecorder } from './run-recorder.ts';
import { Place, ScopedRun } from './scoped-run.ts';

/** Records nothing; uses the codec and the handle of the run that is about to begin. */
export class Rehearsal {
  readonly #run: DurableRun;

  constructor(codec: RecordCodec, store: DurableStore, rehearsed: RunHandle) {
    const append = (kind: number, payload: string | Uint8Array) => {
      rehearsed.rehearse?.(kind, payload);
      return 0;
    };
    const handle: RunHandle = { epoch: 0, records: [], notes: [], append, release: () => {} };
    const recorder = new RunRecorder(handle, codec, 'none');
    const log = new RunLog([], codec);
    const notify = () => {};
    const checkpoints = new Checkpoints(recorder, codec, log, {
      plan: undefined,
      schema: 1,
      upgrade: undefined,
      configHash: undefined,
      fsync: 'none',
      notify,
    });
    const shared = { log, codec, recorder, checkpoints, notify, store, hasAnswers: false };
    const parts = { ...shared, options: { id: '', durable: true } };
    this.#run = new DurableRun({ ...parts, id: '', name: '' } as ConstructorParameters<typeof DurableRun>[0]);
  }

  async perform(result: unknown): Promise<void> {
    const scoped = new ScopedRun(this.#run, '');
    await scoped.enter(() =>
      performStep(new Place(scoped), {
        kind: 'step',
        name: 'rehearsal',
        key: undefined,
        input: undefined,
        options: {},
        work: async () => result,
        watch: (inner) => inner(),
      }),
    );
  }
}
