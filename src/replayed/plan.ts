/** The instructions of the replayer for the replayed program: JSON in the file named by `planVariable`. */
export const planVariable = 'AGENTDUMP_REPLAY_PLAN';

export interface ReplayPlan {
  /** Unix sockets on which the replayer answers in place of servers, without and with TLS. */
  sockets: { http: string; https: string };
  /** `host:port` of servers whose connections are redirected to the sockets. Without a port, ports 80 and 443. */
  hosts: string[];
  /** What happens to all other connections. Default: they are made. */
  others?: OtherConnections;
  /** The initial time of the clock in milliseconds since 1970. Default: the real time. */
  startedAtMs?: number;
  /** The seed of Math.random and crypto.randomUUID. */
  seed: number;
  /** Results of the tools that are not run, by name and in order. */
  tools?: Record<string, RecordedTool[]>;
  /** The process writes its pid here, so that the replayer can kill it. */
  pidFile: string;
  /** Effects that are reported or held. Default: none. */
  effects?: EffectWishes;
}

/** What a program does outside of the network, and a replay repeats. */
export type EffectKind = 'files' | 'commands' | 'mcp';

export interface EffectWishes {
  /** A line of JSON per effect is appended to it, each a `SeenEffect`. */
  file: string;
  /** The first effect of these kinds ends the replay before it happens. */
  hold: EffectKind[];
  /** What is written below it is the replay's own. */
  folder: string;
  pidFile: string;
}

export interface SeenEffect {
  kind: EffectKind;
  /** The function (`writeFile`, `spawn`), or `tools/call`. */
  action: string;
  /** The path, the command line or the tool. */
  name: string;
  /** `file:line:column` of the call, if it is known. */
  place?: string;
  /** The replay was ended before it happened. */
  isHeld?: boolean;
}

/** Connections to servers that are not in the recording. */
export interface OtherConnections {
  /** Connections to these servers are made. As in `hosts`, but without a port every port matches. */
  live: string[];
  /** Unix socket to which all other connections are redirected. The first of them ends the replay. */
  unknown: string;
  /** Ports on which the program's own processes listen, one per line. Connections to them are made. */
  portsFile: string;
}

export interface RecordedTool {
  result?: unknown;
  error?: { type?: string; message?: string };
}
