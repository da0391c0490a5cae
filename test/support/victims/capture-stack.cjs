// Loaded with --require into a victim: at the uncaught error prints, as the last line on stdout, what a recorder would
// keep of it: the stack texts down the chain of causes, V8's own positions, and the scripts that were loaded.
const { Session } = require('node:inspector');

let sites;
if (process.env.CAPTURE_RAW)
  Error.prepareStackTrace = (error, callSites) => {
    sites ??= new Map();
    sites.set(error, callSites);
    return String(error) + callSites.map((site) => `\n    at ${site}`).join('');
  };

process.on('uncaughtExceptionMonitor', (error) => {
  const errors = [];
  for (let at = error; at instanceof Error && errors.length < 9; at = at.cause)
    errors.push({ name: at.name, message: at.message, stack: at.stack });
  const scripts = [];
  const session = new Session();
  session.connect();
  session.on('Debugger.scriptParsed', ({ params }) => {
    const { scriptId, url, hash, isModule = false, sourceMapURL } = params;
    scripts.push({ scriptId, url, hash, isModule, sourceMapUrl: sourceMapURL });
  });
  session.post('Debugger.enable');
  for (const script of scripts)
    if (script.url.startsWith('file:') && !script.url.includes('/node_modules/'))
      session.post('Debugger.getScriptSource', { scriptId: script.scriptId }, (_, result) => {
        script.text = result?.scriptSource;
      });
  session.disconnect();
  const frames = sites?.get(error)?.map((site) => ({
    functionName: site.getFunctionName() ?? '',
    scriptId: '-',
    url: site.getScriptNameOrSourceURL() ?? '',
    line: site.getLineNumber() ?? 0,
    column: site.getColumnNumber() ?? 0,
  }));
  require('node:fs').writeSync(1, `\n${JSON.stringify({ errors, scripts, frames })}\n`);
});
