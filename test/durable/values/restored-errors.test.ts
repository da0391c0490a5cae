/** What a program asks of an error that a step threw is answered the same after a restart. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { durableAgent as agent } from '../../../src/durable/api.ts';
import { decodeValue, encodeValue } from '../../../src/durable/records/values.ts';
import { FileStore } from '../../../src/durable/stores/file-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentdump-restored-errors-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const passThrough = (value: unknown) => decodeValue(JSON.parse(encodeValue(value)));

/** What the program hears in its first process, and in the second one, which has the error only from the record. */
async function hearTwice<Heard>(makeError: () => unknown, ask: (error: unknown) => Heard): Promise<Heard[]> {
  const store = new FileStore(join(folder, `dumps-${count++}`));
  const heard: Heard[] = [];
  const program = async () => {
    const fail = async () => {
      throw makeError();
    };
    await agent.step('fails', fail).catch((error) => heard.push(ask(error)));
    // Otherwise the failure would be the run's, and the step would be performed again.
    await agent.step('goes on', () => {});
    if (heard.length < 2) throw new Error('the end of this process');
  };
  const options = { id: 'r', durable: true, store, notify: () => {} } as const;
  await assert.rejects(agent.run('program', options, program), /the end of this process/);
  await agent.run('program', options, program);
  return heard;
}

class ProviderFault extends Error {
  readonly #left: number;
  constructor(message: string, left: number) {
    super(message);
    this.#left = left;
  }
  get left(): number {
    return this.#left;
  }
}
class RateLimitFault extends ProviderFault {}

test('it is of its class and those above, with what they compute', async () => {
  const heard = await hearTwice(
    () => new RateLimitFault('slow down', 3),
    (error) => {
      const isLimit = error instanceof RateLimitFault;
      const { message, left } = error as RateLimitFault;
      return [isLimit, error instanceof ProviderFault, message, left, String(error)];
    },
  );
  const expected = [true, true, 'slow down', 3, 'Error: slow down'];
  assert.deepEqual(heard, [expected, expected]);
});

test('if two classes have its names, it is of neither, and of the class of the language below them', async () => {
  const makeClass = () => class TwinFault extends TypeError {};
  const twins = [makeClass(), makeClass()];
  const heard = await hearTwice(
    () => new twins[0]!('which'),
    (error) => [twins.map((Twin) => error instanceof Twin), error instanceof TypeError],
  );
  assert.deepEqual(heard, [
    [[true, false], true],
    [[false, false], true],
  ]);
});

class SealedFault extends Error {
  #name = 'SealedFault';
  override get name(): string {
    return this.#name;
  }
}
class CodedFault extends Error {
  readonly code: { text: string } | undefined;
  constructor(message: string, text: string) {
    super(message);
    this.code = { text };
  }
  override get name(): string {
    return this.code!.text;
  }
  get advice(): string {
    return this.code!.text.toUpperCase();
  }
}

test('a getter of its class that needs what is gone, or comes later, does not damage it', async () => {
  const ask = (error: unknown) => {
    const { name, message } = error as Error;
    return [error instanceof SealedFault, error instanceof CodedFault, name, message];
  };
  const sealed = await hearTwice(() => new SealedFault('shut'), ask);
  const coded = await hearTwice(() => new CodedFault('shut', 'E_SHUT'), ask);
  assert.deepEqual(sealed[1], [true, false, 'SealedFault', 'shut']);
  assert.deepEqual(coded[1], [false, true, 'E_SHUT', 'shut']);
  assert.deepEqual([sealed[0], coded[0]], [sealed[1], coded[1]]);
});

test('an error that was restored, or whose getters throw, can be recorded in its turn', () => {
  class ShyFault extends Error {
    #cause = new Error('deeper');
    constructor(message: string) {
      super(message);
      Object.defineProperty(this, 'gone', { get: () => assert.fail('not to be read'), enumerable: true });
    }
    override get cause(): unknown {
      return this.#cause.cause;
    }
    get errors(): unknown {
      return this.#cause.cause;
    }
  }
  const once = passThrough(new ShyFault('x')) as ShyFault;
  assert.ok(once instanceof ShyFault);
  const twice = passThrough(once) as ShyFault;
  assert.deepEqual([twice instanceof ShyFault, twice.message], [true, 'x']);
});

test('it never is of a class that only has the same name, whichever of them are loaded', () => {
  const load = (name: string, body: string) =>
    new Function(`return class ${name} extends Error { ${body} }`)() as new (
      message: string,
    ) => Error;
  const record = (Class: new (message: string) => Error) => JSON.parse(encodeValue(new Class('late')));
  const ofAnother = record(load('HaltFault', 'waits = 3'));
  const Halt = load('HaltFault', 'retries = 1');
  assert.ok(!(decodeValue(ofAnother) instanceof Halt));
  assert.ok(decodeValue(record(Halt)) instanceof Halt);
  const pauses = ['retries = 1', 'timeout = 2'].map((body) => load('PauseFault', body));
  for (const Pause of pauses) {
    const error = decodeValue(record(Pause));
    assert.deepEqual(
      pauses.map((one) => error instanceof one),
      pauses.map((one) => one === Pause),
    );
  }
});

test('it has its marks under symbols that others can look up, and a DOMException is one', async () => {
  const mark = Symbol.for('agentdump.test.error');
  const marked = await hearTwice(
    () => Object.assign(new Error('marked'), { [mark]: true }),
    (error) => (error as Record<symbol, unknown>)[mark],
  );
  assert.deepEqual(marked, [true, true]);
  const aborted = await hearTwice(
    () => new DOMException('gone', 'AbortError'),
    (error) => {
      const { name, message, code } = error as DOMException;
      return [error instanceof DOMException, error instanceof Error, name, message, code];
    },
  );
  const expected = [true, true, 'AbortError', 'gone', 20];
  assert.deepEqual(aborted, [expected, expected]);
});

test('if its message contains a secret, it still is of its class, with the properties that contain none', async () => {
  const key = `sk-ant-api03-${'Zq7Rw2Lx9Tn4Vb8K'.repeat(5)}AA`;
  const heard = await hearTwice(
    () => Object.assign(new RateLimitFault(`refused: ${key}`, 3), { status: 401, sent: { key }, close() {} }),
    (error) => {
      const { message, status } = error as RateLimitFault & { status: number };
      return { isSame: error instanceof RateLimitFault && status === 401, text: message };
    },
  );
  assert.deepEqual(
    heard.map(({ isSame }) => isSame),
    [true, true],
  );
  assert.match(heard[1]?.text ?? '', /^refused: (?!.*Zq7Rw2Lx).*redacted/);
});

// The last one, because it can't be undone.
test('a program whose global object takes no properties reads its errors, without their class', () => {
  class FrozenFault extends Error {}
  const text = encodeValue(new FrozenFault('cold'));
  Object.preventExtensions(globalThis);
  const error = decodeValue(JSON.parse(text)) as Error;
  const heard = [error.message, error instanceof FrozenFault, error instanceof Error];
  assert.deepEqual(heard, ['cold', false, true]);
});
