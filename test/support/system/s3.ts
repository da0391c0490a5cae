/** An S3 server with one bucket for one test, in a process of its own. The tests that need it are skipped if it isn't installed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort } from './free-port.ts';

const program = fileURLToPath(new URL('../../store/s3/node_modules/s3rver/bin/s3rver.js', import.meta.url));

export const whyNoS3 = (): string | undefined =>
  existsSync(program) ? undefined : 'no S3 server here: npm ci --prefix test/store/s3';

export interface S3Server {
  bucket: string;
  /** What a client of this server has in its environment. */
  environment: Record<string, string>;
  kill(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

export async function startS3(bucket = 'dumps'): Promise<S3Server> {
  const folder = mkdtempSync(join(tmpdir(), 'agentdump-s3-'));
  const port = await findFreePort();
  let child: ChildProcess | undefined;
  const start = async () => {
    const words = ['-d', folder, '-a', '127.0.0.1', '-p', String(port), '-s', '--configure-bucket', bucket];
    child = spawn(process.execPath, [program, ...words], { stdio: 'ignore' });
    while (!(await isListening(port))) await new Promise((resolve) => setTimeout(resolve, 50));
  };
  const kill = () =>
    new Promise<void>((resolve) => {
      if (!child || child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once('exit', () => resolve());
      child.kill('SIGKILL');
    });
  await start();
  return {
    bucket,
    environment: {
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
      AWS_REGION: 'eu-central-1',
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}`,
    },
    kill,
    start,
    remove: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
