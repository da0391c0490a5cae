/** The edges of one object, in columns that are used again for the next. */

const firstRoom = 1 << 10;

export class EdgeList {
  count = 0;
  /** Indexes in `edgeTypes`. */
  types = new Uint8Array(firstRoom);
  /** Text numbers, or indexes if the type is element or hidden. */
  names = new Uint32Array(firstRoom);
  /** Objects. */
  targets = new Int32Array(firstRoom);

  add(type: number, name: number, target: number): void {
    const at = this.count++;
    if (at === this.types.length) this.#grow();
    this.types[at] = type;
    this.names[at] = name;
    this.targets[at] = target;
  }

  #grow(): void {
    const { types, names, targets } = this;
    this.types = new Uint8Array(types.length * 2);
    this.types.set(types);
    this.names = new Uint32Array(types.length * 2);
    this.names.set(names);
    this.targets = new Int32Array(types.length * 2);
    this.targets.set(targets);
  }
}
