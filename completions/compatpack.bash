# bash completion for compatpack; made by scripts/make-reference

_compatpack() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' words='' kind=-f
  COMPREPLY=()
  if ((COMP_CWORD > 1)); then
    command=${COMP_WORDS[1]}
    # bash makes three words of --option=value.
    if [[ $current == = ]]; then
      current=
    elif [[ $previous == = ]]; then
      previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
  fi
  case "$command $previous" in
    "extract --member") return ;;
    "extract -o" | "extract --out") kind=-d ;;
    "extract --prefix") kind=-f ;;
    "extract --sha256") return ;;
    "extract --sha1") return ;;
    "extract --md5") return ;;
    "extract --checksum-file") kind=-f ;;
    "extract --keyring") kind=-f ;;
    "extract --jobs") return ;;
    "extract --progress") words='auto always never' ;;
    "extract --components") return ;;
    "extract --include") return ;;
    "extract --exclude") return ;;
    "extract --arch") words='x86_64 i386 aarch64 ppc64le' ;;
    "extract --color") words='auto always never' ;;
    "inspect --member") return ;;
    "inspect --sha256") return ;;
    "inspect --sha1") return ;;
    "inspect --md5") return ;;
    "inspect --checksum-file") kind=-f ;;
    "inspect --keyring") kind=-f ;;
    "inspect --jobs") return ;;
    "inspect --progress") words='auto always never' ;;
    "inspect --color") words='auto always never' ;;
    "list --sha256") return ;;
    "list --sha1") return ;;
    "list --md5") return ;;
    "list --checksum-file") kind=-f ;;
    "list --keyring") kind=-f ;;
    "list --jobs") return ;;
    "list --progress") words='auto always never' ;;
    "list --components") return ;;
    "list --include") return ;;
    "list --exclude") return ;;
    "list --arch") words='x86_64 i386 aarch64 ppc64le' ;;
    "list --color") words='auto always never' ;;
    "verify --sha256") return ;;
    "verify --sha1") return ;;
    "verify --md5") return ;;
    "verify --checksum-file") kind=-f ;;
    "verify --keyring") kind=-f ;;
    "verify --jobs") return ;;
    "verify --progress") words='auto always never' ;;
    "verify --color") words='auto always never' ;;
    "env --shell") words='sh fish csh' ;;
    "env --color") words='auto always never' ;;
    "module --format") words='lua tcl' ;;
    "module --prefix") kind=-f ;;
    "module --color") words='auto always never' ;;
    "image --member") return ;;
    "image -o" | "image --out") kind=-f ;;
    "image --format") words='layout archive layer' ;;
    "image --prefix") kind=-f ;;
    "image --base") kind=-d ;;
    "image --tag") return ;;
    "image --sha256") return ;;
    "image --sha1") return ;;
    "image --md5") return ;;
    "image --checksum-file") kind=-f ;;
    "image --keyring") kind=-f ;;
    "image --jobs") return ;;
    "image --progress") words='auto always never' ;;
    "image --components") return ;;
    "image --include") return ;;
    "image --exclude") return ;;
    "image --arch") words='x86_64 i386 aarch64 ppc64le' ;;
    "image --color") words='auto always never' ;;
    "check --member") return ;;
    "check --app") kind=-f ;;
    "check --sha256") return ;;
    "check --sha1") return ;;
    "check --md5") return ;;
    "check --checksum-file") kind=-f ;;
    "check --keyring") kind=-f ;;
    "check --jobs") return ;;
    "check --progress") words='auto always never' ;;
    "check --driver") return ;;
    "check --gpu") return ;;
    "check --host-root") kind=-d ;;
    "check --table") kind=-f ;;
    "check --color") words='auto always never' ;;
    "probe --timeout") return ;;
    "probe --color") words='auto always never' ;;
    "run --host-root") kind=-d ;;
    "run --color") words='auto always never' ;;
    "matrix --cuda") return ;;
    "matrix --driver") return ;;
    "matrix --table") kind=-f ;;
    "matrix --color") words='auto always never' ;;
    *)
      [[ $current != -* && -n $command ]] || case $command in
        '') words='extract inspect list verify env module image check probe run matrix -h --help --version' ;;
        extract) words='-h --help --member --no-verify -o --out --prefix -f --force -n --dry-run --no-sync --sha256 --sha1 --md5 --checksum-file --require-checksum --keyring --jobs --progress --components --include --exclude --arch --json -q --quiet -v --verbose --color' ;;
        inspect) words='-h --help --deep --member --sha256 --sha1 --md5 --checksum-file --require-checksum --keyring --jobs --progress --json -q --quiet -v --verbose --color' ;;
        list) words='-h --help --sha256 --sha1 --md5 --checksum-file --require-checksum --keyring --jobs --progress --components --include --exclude --arch --json -q --quiet -v --verbose --color' ;;
        verify) words='-h --help --repair --sha256 --sha1 --md5 --checksum-file --require-checksum --keyring --jobs --progress --json -q --quiet -v --verbose --color' ;;
        env) words='-h --help --shell --json -q --quiet -v --verbose --color' ;;
        module) words='-h --help --format --prefix --json -q --quiet -v --verbose --color' ;;
        image) words='-h --help --member --no-verify -o --out --format --prefix --volume --base --tag --ld-library-path -f --force --sha256 --sha1 --md5 --checksum-file --require-checksum --keyring --jobs --progress --components --include --exclude --arch --json -q --quiet -v --verbose --color' ;;
        check) words='-h --help --member --app --sha256 --sha1 --md5 --checksum-file --require-checksum --keyring --jobs --progress --driver --gpu --host-root --table --json -q --quiet -v --verbose --color' ;;
        probe) words='-h --help --timeout --json -q --quiet -v --verbose --color' ;;
        run) words='-h --help --host-root -q --quiet -v --verbose --color' ;;
        matrix) words='-h --help --cuda --driver --table --json -q --quiet -v --verbose --color' ;;
      esac
      ;;
  esac
  if [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$kind" -- "$current")
  fi
}
complete -F _compatpack compatpack
