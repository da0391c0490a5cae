/** The engines that perform the same random programs: ours, and DBOS as far as it can express them. */
import { durableAgent } from '../../../../src/durable/api.ts';
import { PostgresStore } from '../../../../src/durable/stores/postgres-store.ts';
import { load } from '../../../bench/peers/durable-engines.ts';
import type { ProgramCalls } from '../random-programs.ts';

export interface PeerEngine {
  calls: ProgramCalls;
  /** Performs the programs with these ids at the same time, those of earlier processes from where they were. */
  perform(ids: readonly string[], program: (id: string) => Promise<string>): Promise<string>[];
  stop(): Promise<void>;
}

export const engines: Record<string, (url: string, say: Say) => Promise<PeerEngine>> = {
  agentdump: startOurs,
  DBOS: startDbos,
};

/** Receives the lines that the engine addresses to a person. */
type Say = (program: string, line: string) => void;

async function startOurs(url: string, say: Say): Promise<PeerEngine> {
  const store = await PostgresStore.connect(url);
  const options = { durable: true, store, maxResumes: 1_000 } as const;
  return {
    calls: durableAgent,
    perform: (ids, program) =>
      ids.map((id) =>
        durableAgent.run('program', { ...options, id, notify: (line: string) => say(id, line) }, () =>
          program(id),
        ),
      ),
    stop: async () => store.close(),
  };
}

async function startDbos(systemDatabaseUrl: string): Promise<PeerEngine> {
  const { DBOS } = await load('@dbos-inc/dbos-sdk');
  DBOS.setConfig({ name: 'trial', systemDatabaseUrl, logLevel: 'critical', runAdminServer: false });
  let perform = (_: string) => Promise.resolve('');
  // Recovery calls it within `launch`.
  const { promise: isReady, resolve: begin } = withResolvers<void>();
  const workflow = DBOS.registerWorkflow(
    async (id: string) => {
      await isReady;
      return perform(id);
    },
    { name: 'program', maxRecoveryAttempts: 1_000 },
  );
  await DBOS.launch();
  return {
    calls: dbosCalls(DBOS),
    perform: (ids, program) => {
      perform = program;
      begin();
      return ids.map(async (id) => {
        const handle = await DBOS.startWorkflow(workflow, { workflowID: id })(id);
        return handle.getResult();
      });
    },
    stop: () => DBOS.shutdown(),
  };
}

/** Steps with retries, tool calls, which are steps there, nested runs, which are plain calls there, and sleeps. */
// biome-ignore lint/suspicious/noExplicitAny: a package that may be absent
function dbosCalls(DBOS: any): ProgramCalls {
  const attempt = () => DBOS.stepStatus?.currentAttempt ?? 1;
  const step: ProgramCalls['step'] = (name, work, { retry } = {}) => {
    const retries = retry && {
      retriesAllowed: true,
      maxAttempts: retry.attempts,
      intervalSeconds: (retry.delayMs ?? 200) / 1_000,
    };
    const perform = async () => work({ attempt: attempt() } as Parameters<typeof work>[0]);
    return DBOS.runStep(perform, { name, ...retries });
  };
  const other = () => {
    throw new Error('not expressed here');
  };
  return {
    step,
    tool: (name, toolArguments, work, options) =>
      step(name, (given) => work(toolArguments, given), options) as never,
    run: (...given: unknown[]) => (given.at(-1) as () => never)(),
    sleep: (_, ms) => DBOS.sleep(ms),
    waitForApproval: other,
    waitForSignal: other,
    childRun: other,
  };
}

function withResolvers<Value>() {
  let resolve!: (value: Value) => void;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
