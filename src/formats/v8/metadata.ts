/**
 * The constants with which V8 describes itself to debuggers (`v8dbg_*` symbols, tools/gen-postmortem-metadata.py in V8's
 * sources). The symbol names contain types that change between versions, so a field is found by the prefix of its name.
 */
import { createHash } from 'node:crypto';
import { AgentdumpError } from '../../errors.ts';

export class V8Metadata {
  readonly #values: ReadonlyMap<string, number>;
  readonly #fields = new Map<string, number>();
  readonly #types = new Map<string, number>();

  /** `values`: by name without the `v8dbg_` prefix. */
  constructor(values: ReadonlyMap<string, number>) {
    this.#values = values;
    for (const [name, value] of values) {
      const [kind, field] = name.split('__');
      if (kind?.startsWith('class_') && field) this.#fields.set(`${kind.slice(6)}.${field}`, value);
      else if (kind?.startsWith('type_') && field) this.#types.set(field, value);
    }
  }

  /** Names and values of all constants in 16 hexadecimal digits, whatever their order. */
  digest(): string {
    const lines = [...this.#values].map(([name, value]) => `${name}=${value}\n`);
    return createHash('sha256').update(lines.sort().join('')).digest('hex').slice(0, 16);
  }

  findConstant(name: string): number | undefined {
    return this.#values.get(name);
  }

  /** Frame types by number, from `frametype_…`. */
  frameTypes(): Map<number, string> {
    const types = new Map<number, string>();
    for (const [name, value] of this.#values)
      if (name.startsWith('frametype_')) types.set(value, name.slice('frametype_'.length));
    return types;
  }

  /** Instance types by number, in V8's spelling without `_TYPE`. */
  instanceTypes(): Map<number, string> {
    return new Map([...this.#types].map(([name, value]) => [value, name.replace(/_TYPE$/, '')]));
  }

  /** Byte offset of `Class.field`. */
  findField(name: string): number | undefined {
    return this.#fields.get(name);
  }

  findType(name: string): number | undefined {
    return this.#types.get(`${name}_TYPE`);
  }

  constant(name: string): number {
    return this.findConstant(name) ?? missing(name);
  }

  field(name: string): number {
    return this.findField(name) ?? missing(name);
  }

  type(name: string): number {
    return this.findType(name) ?? missing(name);
  }
}

function missing(name: string): never {
  throw new AgentdumpError('unsupported-version', `this V8 does not describe ${name}`, {
    format: 'v8',
    name,
  });
}
