/**
 * Wraps LangGraph's serializer: with the host's key, every value, checkpoint and metadata is encrypted before it reaches the
 * disk. Data stored before there was a key can still be read. Knows neither threads nor files.
 */
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import { findSeal, type HostKey, lockedWithoutKey } from '../journal/write/value-seal.ts';

const sealedType = 'agentdump-sealed';
const beside = 'langgraph value';

/** Throws `usage` for an invalid key. Reading throws `locked` without the key or with a wrong one. */
export function sealSerde(inner: SerializerProtocol, key?: HostKey): SerializerProtocol {
  const seal = findSeal('langgraph', key);
  return {
    async dumpsTyped(value: unknown): Promise<[string, Uint8Array]> {
      const [type, bytes] = await inner.dumpsTyped(value);
      if (!seal) return [type, bytes];
      return [sealedType, seal.close(Buffer.concat([Buffer.from(`${type}\n`), bytes]), beside)];
    },
    async loadsTyped(type: string, data: Uint8Array | string): Promise<unknown> {
      if (type !== sealedType) return inner.loadsTyped(type, data);
      if (!seal) throw lockedWithoutKey();
      const whole = seal.open(typeof data === 'string' ? Buffer.from(data, 'latin1') : data, beside);
      const end = whole.indexOf(10);
      return inner.loadsTyped(whole.toString('utf8', 0, end), whole.subarray(end + 1));
    },
  };
}
