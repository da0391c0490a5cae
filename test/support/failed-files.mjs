// A reporter of node:test that prints nothing but the paths of the files in which a test failed, one a line.
export default async function* failedFiles(source) {
  const told = new Set();
  for await (const { type, data } of source) {
    if (type !== 'test:fail' || data.todo !== undefined || !data.file || told.has(data.file)) continue;
    told.add(data.file);
    yield `${data.file}\n`;
  }
}
