/**
 * A small set of objects that soon leave it again, in the order in which they came. Not a Set: whenever V8 gives one a new table, the former
 * table keeps what it held and refers to the new one. Once one of them is in V8's old generation, what all later ones held, and all
 * that this refers to, survives until the whole heap is collected.
 */
export class PassingSet<Value extends object> {
  #values: Value[] = [];

  get size(): number {
    return this.#values.length;
  }

  add(value: Value): void {
    if (!this.#values.includes(value)) this.#values.push(value);
  }

  delete(value: Value): boolean {
    const at = this.#values.indexOf(value);
    if (at >= 0) this.#values.splice(at, 1);
    return at >= 0;
  }

  clear(): void {
    this.#values = [];
  }

  /** Those that are in it now: what is added or deleted meanwhile makes no difference. */
  [Symbol.iterator](): Iterator<Value> {
    return this.#values.slice().values();
  }
}
