/**
 * Numbers that Node, V8 and the system report are no secrets of the program, and each would be searched as a text of its own: 15 to
 * 40 µs, for some 250 in a bundle. They are taken out of the data before it is redacted and put back afterwards, in the order of the data.
 */

type Fields = Record<string, unknown>;

/** Not a date or a map, of which the redactor has its own view. */
function isPlain(value: unknown): value is Fields {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** JSON has no others. */
const isFigure = (value: unknown): value is number => Number.isFinite(value);

/** As Node and the kernel name their figures. Others are left in the data, because a name may be a secret too. */
const figureName = /^[a-z][a-z_./]{0,47}\d?$/i;
const isNamedFigure = (name: string, value: unknown): value is number =>
  isFigure(value) && figureName.test(name);

/** A number alone tells nothing by its name either. In a list its place stays. */
export function withoutFigures(data: unknown): unknown {
  if (Array.isArray(data)) return data.map((entry) => (isFigure(entry) ? null : withoutFigures(entry)));
  if (!isPlain(data)) return data;
  const rest = Object.entries(data).filter(([name, value]) => !isNamedFigure(name, value));
  // Not by assignment, for which `__proto__` is no field.
  return Object.fromEntries(rest.map(([name, value]) => [name, withoutFigures(value)]));
}

/** @param clean the redacted copy of what `withoutFigures` returned for `data`. What is not in it stays out. */
export function withFigures(clean: unknown, data: unknown): unknown {
  if (Array.isArray(clean) && Array.isArray(data))
    // Instead of the place there may be the mark of what was cut.
    return clean.map((entry, at) =>
      isFigure(data[at]) ? (entry ?? data[at]) : withFigures(entry, data[at]),
    );
  if (!isPlain(clean) || !isPlain(data)) return clean;
  const whole = new Map<string, unknown>();
  for (const [name, value] of Object.entries(data))
    if (isNamedFigure(name, value)) whole.set(name, value);
    else if (Object.hasOwn(clean, name)) whole.set(name, withFigures(clean[name], value));
  // A name that was redacted, and the mark of what was cut.
  for (const [name, value] of Object.entries(clean)) if (!whole.has(name)) whole.set(name, value);
  return Object.fromEntries(whole);
}
