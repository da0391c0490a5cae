/**
 * Removes the user's name from paths below the home folder: `/home/alice/app.js` becomes `/home/~/app.js`, which is still a
 * path. A home folder without a user's name (`/root`, `/`) is kept.
 */
export class HomeFolder {
  private readonly home: string | undefined;
  private readonly shown: string;

  constructor(home: string | undefined) {
    const match = /^(.*[\\/])([^\\/]{2,})[\\/]?$/.exec(home ?? '');
    const user = match?.[2];
    this.home =
      match && user && !/^(?:root|app|node|home|workspace)$/.test(user) ? match[1]! + user : undefined;
    this.shown = match ? `${match[1]}~` : '';
  }

  hide(text: string): string {
    const { home } = this;
    if (home === undefined || !text.includes(home)) return text;
    let out = '';
    let at = 0;
    for (let found = text.indexOf(home); found >= 0; found = text.indexOf(home, at)) {
      const end = found + home.length;
      out += text.slice(at, found) + (/[\w.-]/.test(text[end] ?? '') ? home : this.shown);
      at = end;
    }
    return out + text.slice(at);
  }
}
