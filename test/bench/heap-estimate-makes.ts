/** The heaps of bench:heap-estimate, by name. To the first ones the constants of the estimate were fitted. */

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
