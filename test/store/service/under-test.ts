/** A service in front of a new store in a folder, with a token for each right, and what the tests ask it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, before, beforeEach } from 'node:test';
import type { SentBundle } from '../../../src/model/fleet/issue.ts';
import type { FleetStore } from '../../../src/store/fleet-store.ts';
import type { Store } from '../../../src/store/open-store.ts';
import type { Offer, Right } from '../../../src/store/service/protocol.ts';
import { openRemoteStore } from '../../../src/store/service/remote-store.ts';
import { type RunningService, serveStore } from '../../../src/store/service/serve.ts';
import { makeToken, usualLimits } from '../../../src/store/service/tokens.ts';
import { newStore } from '../new-store.ts';
import { randomId } from '../synth-death.ts';

class ServiceUnderTest {
  folder = '';
  /** For bundles: a new folder for each test. */
  dumps = '';
  store!: Store;
  service!: RunningService;
  readonly tokens: Record<Right, string> = { send: '', read: '', manage: '' };
  /** What the operator was told. */
  readonly notes: string[] = [];

  get uploads(): string {
    return join(this.folder, 'uploads');
  }

  async start(): Promise<void> {
    this.folder = mkdtempSync(join(tmpdir(), 'agentdump-service-'));
    this.store = await newStore(join(this.folder, 'store'));
    for (const may of ['send', 'read', 'manage'] as const)
      this.tokens[may] = await makeToken(this.store.index, { name: may, may, ...usualLimits });
    const note = (sentence: string) => void this.notes.push(sentence);
    const { store, uploads } = this;
    this.service = await serveStore({ store, host: '127.0.0.1', port: 0, uploads, note });
  }

  async stop(): Promise<void> {
    await this.service?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  beginTest(): void {
    this.dumps = join(this.folder, randomId());
    mkdirSync(this.dumps);
  }

  as = (may: Right): FleetStore => openRemoteStore(this.service.url, this.tokens[may]);

  sendTo = async (store: FleetStore, path: string): Promise<SentBundle> =>
    (await store.send([path]))[0] ?? assert.fail();

  sendAs = (may: Right, path: string): Promise<SentBundle> => this.sendTo(this.as(may), path);

  ask = (path: string, token?: string, more: RequestInit = {}): Promise<Response> =>
    fetch(new URL(path, this.service.url), {
      ...more,
      headers: { ...(token && { authorization: `Bearer ${token}` }), ...(more.headers as object) },
    });

  offerOf = (file: string): Offer => ({
    sha256: createHash('sha256').update(readFileSync(file)).digest('hex'),
    bytes: statSync(file).size,
    name: basename(file),
  });

  offer = (fields: object, token = this.tokens.send): Promise<Response> =>
    this.ask('/v1/offers', token, { method: 'POST', body: JSON.stringify(fields) });

  put = ({ sha256, bytes, name }: Offer, body: Buffer, offset = 0): Promise<Response> =>
    this.ask(`/v1/uploads/${sha256}?bytes=${bytes}&name=${encodeURIComponent(name)}`, this.tokens.send, {
      method: 'PUT',
      body: new Uint8Array(body),
      headers: { 'upload-offset': String(offset) },
    });

  nothingIsLeft = (): void => {
    assert.deepEqual(readdirSync(this.uploads), []);
    assert.deepEqual(readdirSync(dirname(this.store.blobs.draft('any'))), []);
  };
}

/** Started before the first test of the file that calls it, and stopped after the last one. */
export function serviceUnderTest(): ServiceUnderTest {
  const underTest = new ServiceUnderTest();
  before(() => underTest.start());
  after(() => underTest.stop());
  beforeEach(() => underTest.beginTest());
  return underTest;
}
