/** Some objects of all, which are asked for in order. */
export class InOrder {
  readonly #some: Int32Array;
  #at = 0;

  constructor(some: Int32Array) {
    this.#some = some;
  }

  takes(object: number): boolean {
    while (this.#some[this.#at]! < object) this.#at++;
    return this.#some[this.#at] === object;
  }
}
