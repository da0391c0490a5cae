/**
 * Flat rows of numbers (`samples`, `trace_function_infos`) of which the count is not known in advance, in a growing column.
 */
import { AgentdumpError } from '../../../errors.ts';
import { RecordReader } from '../sections/record-reader.ts';

/** V8 does not write more numbers than this. */
const maxLength = 1 << 28;

export class NumberList extends RecordReader {
  #values = new Float64Array(64);
  #length = 0;

  constructor(section: string) {
    super(section, 1, undefined);
  }

  get values(): Float64Array {
    return this.#values.subarray(0, this.#length);
  }

  protected override take(record: Float64Array): void {
    if (this.#length === this.#values.length) this.#grow();
    this.#values[this.#length++] = record[0]!;
  }

  #grow(): void {
    if (this.#length >= maxLength)
      throw new AgentdumpError('over-limit', `the section "${this.section}" has too many numbers`, {
        limit: 'numbers',
        allowed: maxLength,
      });
    const larger = new Float64Array(this.#values.length * 2);
    larger.set(this.#values);
    this.#values = larger;
  }
}
