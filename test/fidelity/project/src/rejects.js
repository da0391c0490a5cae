async function load() {
  await null;
  throw new Error('nobody caught this');
}
load();
