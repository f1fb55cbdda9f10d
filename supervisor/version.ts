/** Version of the package; a test holds it equal to package.json, so that nothing is read at start. */
export const VERSION = '0.1.0';
