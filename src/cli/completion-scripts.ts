export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/**
 * Each script asks the program (`nightshift __complete`) for commands, flags and names. Answers are taken as words:
 * nothing in them is expanded.
 */
export const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# Completion of nightshift for bash. In ~/.bashrc: eval "$(nightshift completion bash)"
_nightshift() {
  local line files=
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$line" = ':files' ]; then files=1; else COMPREPLY+=("$line"); fi
  done < <(nightshift __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [ -n "$files" ]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")
  fi
  case "\${COMPREPLY[0]}" in *=) compopt -o nospace 2>/dev/null ;; esac
  return 0
}
complete -F _nightshift nightshift
`,
  zsh: `#compdef nightshift
# Completion of nightshift for zsh. In ~/.zshrc, behind compinit: eval "$(nightshift completion zsh)"
_nightshift() {
  local line files=
  local -a found open
  while IFS= read -r line; do
    case "$line" in
      :files) files=1 ;;
      *=) open+=("$line") ;;
      *) found+=("$line") ;;
    esac
  done < <(nightshift __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#found} )) && compadd -- "\${found[@]}"
  (( \${#open} )) && compadd -S '' -- "\${open[@]}"
  [[ -n "$files" ]] && _files
  return 0
}
if [[ "\${funcstack[1]}" = _nightshift ]]; then _nightshift "$@"; else compdef _nightshift nightshift; fi
`,
  fish: `# Completion of nightshift for fish. In ~/.config/fish/config.fish: nightshift completion fish | source
function __nightshift_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -q current[1]; or set current ''
    nightshift __complete -- $words[2..-1] $current 2>/dev/null
end
complete -c nightshift -f -a '(__nightshift_complete | string match -v -- :files)'
complete -c nightshift -n '__nightshift_complete | string match -q -- :files' -F
`,
};
