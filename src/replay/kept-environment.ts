/**
 * Which recorded variables a program gets when it is run again. A bundle may be a stranger's: nothing that it says may decide
 * what code a loader, a runtime or a shell takes in, or where requests go. The reader's own environment decides that.
 */

/** What belongs to the machine and the shell, not to the program. */
const ofTheMachine =
  /^(?:PATH|HOME|PWD|OLDPWD|SHELL|USER|LOGNAME|TERM|TMPDIR|HOSTNAME|SHLVL|_|AGENTDUMP.*|npm_.*|LC_.*|LANG|CI|GITHUB_.*|SSH_.*|XDG_.*|DISPLAY)$/;

/** Read by a dynamic loader (ld.so(8)), a runtime, a shell or a tool before the program's first line, or instead of it. */
const decidesCode =
  /^(?:(?:LD|DYLD|GLIBC|MALLOC|GCONV|BASH|ZSH|PYTHON|PERL5?|RUBY|JAVA|JDK|GIT|OPENSSL|SSL|CURL|UV|V8|ELECTRON|TSX|TS_NODE|DENO|BUN|YARN|PNPM|COREPACK)(?:_.*|[A-Z0-9].*)?|NODE_(?!ENV$).*|ENV|IFS|PS4|PROMPT_COMMAND|EDITOR|VISUAL|PAGER|BROWSER|CLASSPATH|(?:HTTPS?|ALL|NO|FTP)_PROXY|_JAVA_OPTIONS)$/i;

export function mayBeReplayed(name: string): boolean {
  return !ofTheMachine.test(name) && !decidesCode.test(name) && name !== '__proto__';
}
