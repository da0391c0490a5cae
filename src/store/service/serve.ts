/** The HTTP server of a store, for senders and readers that may not reach its database and bucket themselves. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { AgentdumpError } from '../../errors.ts';
import { localStore } from '../local-store.ts';
import type { Store } from '../open-store.ts';
import { answer, type Service } from './answer.ts';
import { Examinations } from './examinations.ts';
import { Examiner } from './examiner.ts';
import { healthOf } from './health.ts';
import { Uploads } from './uploads.ts';

export interface ServeOptions {
  store: Store;
  host: string;
  /** 0 for any free port. */
  port: number;
  /** A folder for incomplete uploads. */
  uploads: string;
  /** How long a request waits for the examination of its upload. */
  patienceMs?: number;
  note(sentence: string): void;
}

export interface RunningService {
  url: string;
  close(): Promise<void>;
}

/** A connection on which nothing is sent for so long is closed. */
const silentMs = 60_000;
/** Shorter than `silentMs`, and than what proxies wait for an answer. */
const usualPatienceMs = 20_000;
const mostConnections = 512;

/** Throws `unwritable` if the address or the folder is not available. */
export async function serveStore(options: ServeOptions): Promise<RunningService> {
  const { store, note } = options;
  const examiner = new Examiner(Math.max(1, Math.min(4, availableParallelism())));
  const fleet = localStore(store);
  const uploads = new Uploads(options.uploads);
  const patienceMs = options.patienceMs ?? usualPatienceMs;
  const examinations = new Examinations({ store, fleet, uploads, examiner, patienceMs, note });
  const checkHealth = healthOf(store.index);
  const service: Service = { store, fleet, uploads, examinations, checkHealth, note };
  // A large upload over a slow line takes longer than Node's usual five minutes; `silentMs` is what limits it.
  const server = createServer({ requestTimeout: 0, headersTimeout: silentMs }, (request, response) => {
    void answer(request, response, service);
  });
  server.setTimeout(silentMs);
  server.maxConnections = mostConnections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const place = `${options.host}:${options.port}`;
      reject(
        new AgentdumpError(
          'unwritable',
          `cannot listen on ${place}: ${cause.code}`,
          { reason: cause.code },
          cause,
        ),
      );
    });
    server.listen(options.port, options.host, resolve);
  });
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      // Uploads that are cut are continued by their senders.
      const late = setTimeout(() => server.closeAllConnections(), 5_000).unref();
      await closed;
      clearTimeout(late);
      await examiner.close();
      await examinations.settled();
      await store.close();
    },
  };
}
