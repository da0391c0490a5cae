/** Asks a server on this machine for some paths, one after the other, and prints what it answers. */
export async function ask(port, ...paths) {
  for (const path of paths) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`).catch((error) => error);
    if (response instanceof Error) console.log(path, response.name, response.cause?.code);
    else console.log(path, response.status, (await response.text()).replaceAll(/:\d{4,}/g, ':PORT').slice(0, 300));
  }
}
