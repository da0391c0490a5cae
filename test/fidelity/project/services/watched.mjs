import { mkdirSync, writeFileSync } from 'node:fs';
import { watch } from 'chokidar';
mkdirSync('watched');
const watcher = watch('watched', { ignoreInitial: true });
watcher.on('ready', () => writeFileSync('watched/a.txt', 'a'));
watcher.on('add', async (path) => {
  console.log('added', path);
  await watcher.close();
});
