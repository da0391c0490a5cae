/** What the replayer tells the program that is run again: JSON in the file that `planVariable` names. */
export const planVariable = 'AGENTDUMP_REPLAY_PLAN';

export interface ReplayPlan {
  /** Unix sockets on which the replayer answers in the place of servers: without TLS, and with. */
  sockets: { http: string; https: string };
  /** `host:port` whose connections go there; without a port, those to 80 and 443. */
  hosts: string[];
  /** What happens to all other connections; by default they are made. */
  others?: OtherConnections;
  /** Milliseconds since 1970 that the clock says at the start; it runs on from there. Absent: the real time. */
  startedAtMs?: number;
  /** Of Math.random and crypto.randomUUID. */
  seed: number;
  /** Results of the tools that are not run, by name and in order. */
  tools?: Record<string, RecordedTool[]>;
  /** The process writes its pid here, so that the replayer can end it. */
  pidFile: string;
}

/** Connections to servers that are not in the recording. */
export interface OtherConnections {
  /** Written as in `hosts`, but a host without a port means every port: these are made. */
  live: string[];
  /** Unix socket to which all others are led: the first of them ends the replay. */
  unknown: string;
  /** Ports on which the program's own processes listen, one a line: connections to them are made. */
  portsFile: string;
}

export interface RecordedTool {
  result?: unknown;
  error?: { type?: string; message?: string };
}
