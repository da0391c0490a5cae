/** The release; a test holds it equal to package.json, which the preload must not go and read. */
export const version = '0.1.0';
