/** The heaps of bench:heap-estimate, by name. The constants of the estimate were fitted to the first ones. */

export const fittedMakes = [
  'small objects',
  'short strings',
  'long strings',
  'Maps',
  'closures',
  'Buffers',
  'arrays of numbers',
  'typed arrays',
  'classes',
  'deep tree',
] as const;
