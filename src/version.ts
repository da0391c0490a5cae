/** The release. A test compares it with package.json, which the preload must not read. */
export const version = '0.1.0';
