/**
 * The scripts that shells load. Each asks the program for what fits: `roster completions SHELL -- WORDS`, of which the last
 * word is the one that is typed. The first line of the answer is `words`, or `files` and what stands before the path in the
 * same word; each other line is a word and its description, with a tab between them.
 */
import type { Completions } from "effect/cli"

const bash = `# bash completion for roster, which is asked for what fits
_roster() {
  local line="$COMP_LINE" piece head cur prefix i n=0 IFS=$' \\t\\n'
  local -a words=("") answer=()
  # Bash divides words at : and = too.
  line="\${line#*"\${COMP_WORDS[0]}"}"
  for ((i = 1; i <= COMP_CWORD; i++)); do
    piece="\${COMP_WORDS[i]-}"
    if [[ "$line" == [[:blank:]]* || n -eq 0 ]]; then words[++n]="$piece"; else words[n]+="$piece"; fi
    line="\${line#*"$piece"}"
  done
  cur="\${words[n]-}"
  local open=""
  [[ "$cur" == [\\"\\']* ]] && open=1
  words=("\${words[@]//[\\\\\\"\\']/}")
  cur="\${words[n]-}"
  # Bash replaces only what stands behind the last of those.
  head="\${cur%"\${cur##*[:=]}"}"
  [[ "\${COMP_WORDBREAKS-}" == *[:=]* ]] || head=""
  while IFS= read -r piece; do answer+=("$piece"); done < <(roster completions bash -- "\${words[@]:1}" 2>/dev/null)
  COMPREPLY=()
  if [[ "\${answer[0]-}" == files* ]]; then
    prefix="\${answer[0]#files?}"
    compopt -o filenames 2>/dev/null
    while IFS= read -r piece; do
      piece="$prefix$piece"
      COMPREPLY+=("\${piece#"$head"}")
    done < <(compgen -f -- "\${cur#"$prefix"}")
    return
  fi
  for ((i = 1; i < \${#answer[@]}; i++)); do
    piece="\${answer[i]%%$'\\t'*}"
    [[ "$piece" == *= ]] && compopt -o nospace 2>/dev/null
    piece="\${piece#"$head"}"
    [[ -n "$open" ]] || printf -v piece %q "$piece"
    COMPREPLY+=("$piece")
  done
}
complete -F _roster roster`

const zsh = `#compdef roster
# zsh completion for roster, which is asked for what fits
_roster() {
  local line value
  local -a answer plain open plainly openly
  answer=("\${(@f)$(roster completions zsh -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ $answer[1] == files* ]]; then
    compset -P "\${(b)answer[1]#files?}"
    _files
    return
  fi
  for line in "\${(@)answer[2,-1]}"; do
    value="\${line%%$'\\t'*}"
    if [[ $value == *= ]]; then open+=("$value"); openly+=("\${line/$'\\t'/  -- }")
    else plain+=("$value"); plainly+=("\${line/$'\\t'/  -- }")
    fi
  done
  compadd -l -d plainly -a plain
  compadd -l -S '' -d openly -a open
}
# The first call of a file in $fpath only loads it.
if [[ $funcstack[1] == _roster ]]; then _roster "$@"; else compdef _roster roster; fi`

const fish = `# fish completion for roster, which is asked for what fits
function __roster_complete
    set -l word (commandline -ct)
    set -l before (commandline -opc)
    set -l answer (roster completions fish -- $before[2..] "$word" 2>/dev/null)
    if string match -q 'files*' -- $answer[1]
        set -l prefix (string replace -r '^files.' '' -- $answer[1])
        set -l path (string sub -s (math 1 + (string length -- "$prefix")) -- "$word")
        for found in (__fish_complete_path "$path")
            echo -- "$prefix$found"
        end
    else
        printf '%s\\n' $answer[2..]
    end
end
complete -c roster -f -a '(__roster_complete)'`

const powershell = `# PowerShell completion for roster, which is asked for what fits
Register-ArgumentCompleter -Native -CommandName roster -ScriptBlock {
  param($word, $ast, $cursor)
  $words = @($ast.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { "$_".Trim('"', "'") })
  # Older versions leave out an argument that is empty.
  $current = if ($word) { $word.Trim('"', "'") } else { '""' }
  $answer = @(roster completions powershell -- @words $current 2>$null)
  # Without an answer of its own PowerShell completes paths.
  if ($answer.Count -lt 2 -or $answer[0] -like 'files*') { return }
  $answer | Select-Object -Skip 1 | ForEach-Object {
    $value, $description = $_ -split "\`t", 2
    $text = if ($value -match '\\s') { "'" + $value.Replace("'", "''") + "'" } else { $value }
    [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $(if ($description) { $description } else { $value }))
  }
}`

export const scripts: { readonly [Shell in Completions.Shell]: string } = { bash, zsh, fish, powershell }

/** How a shell gets its script. */
export const install: { readonly [Shell in Completions.Shell]: string } = {
  bash: "roster completions bash > ~/.local/share/bash-completion/completions/roster",
  zsh: 'roster completions zsh > "${fpath[1]}/_roster"',
  fish: "roster completions fish > ~/.config/fish/completions/roster.fish",
  powershell: "roster completions powershell >> $PROFILE"
}
