/**
 * Which recorded variables are set when a program is run again. A bundle may come from a stranger: nothing in it may decide
 * what code a loader, a runtime or a shell loads, or where requests are sent. Only the environment of the current user
 * decides that.
 */

/** Variables of the machine and the shell, not of the program. */
const ofTheMachine =
  /^(?:PATH|HOME|PWD|OLDPWD|SHELL|USER|LOGNAME|TERM|TMPDIR|HOSTNAME|SHLVL|_|AGENTDUMP.*|npm_.*|LC_.*|LANG|CI|GITHUB_.*|SSH_.*|XDG_.*|DISPLAY)$/;

/**
 * Variables that a dynamic loader (ld.so(8)), a runtime, a shell or a tool reads before the program's first line, or instead
 * of it.
 */
const decidesCode =
  /^(?:(?:LD|DYLD|GLIBC|MALLOC|GCONV|BASH|ZSH|PYTHON|PERL5?|RUBY|JAVA|JDK|GIT|OPENSSL|SSL|CURL|UV|V8|ELECTRON|TSX|TS_NODE|DENO|BUN|YARN|PNPM|COREPACK)(?:_.*|[A-Z0-9].*)?|NODE_(?!ENV$).*|ENV|IFS|PS4|PROMPT_COMMAND|EDITOR|VISUAL|PAGER|BROWSER|CLASSPATH|(?:HTTPS?|ALL|NO|FTP)_PROXY|_JAVA_OPTIONS)$/i;

export function mayBeReplayed(name: string): boolean {
  return !ofTheMachine.test(name) && !decidesCode.test(name) && name !== '__proto__';
}
