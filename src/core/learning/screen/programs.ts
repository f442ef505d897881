/** Names of programs that are no English words: naming one brings in a tool. */
export const PROGRAMS = setOf(`
  curl wget aria2c httpie nc ncat netcat socat telnet ssh scp sftp rsync ftp lftp rclone nmap dig nslookup
  rm rmdir mkdir mv cp ln chmod chown chgrp sudo su doas dd mkfs mount umount crontab systemctl nohup xargs mktemp
  sed awk gawk perl jq yq grep egrep ripgrep rg tar gzip gunzip unzip bzip2 openssl gpg
  bash sh zsh dash ksh fish pwsh powershell cmd.exe
  npm npx pnpm pnpx yarn bunx pip pip3 pipx poetry uvx conda gem cargo rustup gradle mvn composer nuget
  apt apt-get yum dnf apk brew choco winget snapd
  git svn gh glab docker podman kubectl helm terraform ansible aws gcloud az heroku vercel netlify
  psql mysql sqlite3 mongosh redis-cli eslint prettier vitest jest mocha tsc webpack vite playwright puppeteer selenium
  pytest tox ruff mypy eval exec execsync spawnsync child_process subprocess popen xmlhttprequest axios atob btoa base64
  xxd sha256sum md5sum pbcopy xclip osascript rundll32 certutil bitsadmin regsvr32 wscript cscript mshta
  ngrok pastebin webhook webhooks`);

/** Names of programs that are also words: they count in code, after "run" and before an option. */
export const WORDY_PROGRAMS = setOf(`
  cat find sort cut head tail make go touch kill killall time date more less which who at watch node host sleep open
  split tee tr man tree env set export source alias python python2 python3 ruby php java deno bun lua swift rust dotnet
  code vi vim nano emacs screen top ps df du ls cd pwd echo printf printenv whoami uname id ping nice history patch diff
  start call type del copy xcopy move erase format reg net sc task screenshot puppet salt chef snap uv`);

/** What separates `import type` from a command. */
export const KEYWORDS = setOf(`
  import export const let var type interface class extends implements function async await return throw new as satisfies
  default static public private protected readonly abstract enum namespace declare typeof keyof in of if else for while
  switch case try catch finally yield void null undefined true false def from with lambda self struct impl fn use mod
  pub mut match select where order group by join insert not is and or none expect`);

function setOf(names: string): ReadonlySet<string> {
  return new Set(names.trim().split(/\s+/));
}
