// SPDX-License-Identifier: Apache-2.0
#include "compatpack/io/confinement.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define COMPATPACK_LEAK_CHECKS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COMPATPACK_LEAK_CHECKS
#endif
#endif

namespace compatpack::io {
namespace {

// Rights of newer kernels than the headers may be of, by the kernel's own numbers.
constexpr std::uint64_t kRefer = 1ULL << 13U;     // ABI 2: links and renames between folders
constexpr std::uint64_t kTruncate = 1ULL << 14U;  // ABI 3
constexpr std::uint64_t kTcp = 3;                 // ABI 4: bind and connect
constexpr std::uint64_t kScopes = 3;              // ABI 6: abstract sockets and signals

constexpr std::uint64_t kMakeAndWrite =
    LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
    LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM;

// All but reading. What only some kernels know is added by their ABI.
constexpr std::uint64_t kHandled = kMakeAndWrite | LANDLOCK_ACCESS_FS_EXECUTE |
                                   LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                                   LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SOCK;

/// struct landlock_ruleset_attr as of ABI 6. An older kernel is given as much of it as it knows.
struct Ruleset {
  std::uint64_t files;
  std::uint64_t network;
  std::uint64_t scopes;
};

std::size_t size_for(long abi) {
  return abi >= 6 ? sizeof(Ruleset) : abi >= 4 ? 2 * sizeof(std::uint64_t) : sizeof(std::uint64_t);
}

std::uint64_t rights_of(AllowedFolder::What what, std::uint64_t handled) {
  switch (what) {
    case AllowedFolder::What::contents:
      return (kMakeAndWrite | kRefer | kTruncate) & handled;
    case AllowedFolder::What::entries:
      return LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR;
    case AllowedFolder::What::removal:
      return LANDLOCK_ACCESS_FS_REMOVE_FILE;
    case AllowedFolder::What::files:
      return LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE;
  }
  return 0;
}

/// The ABI that is in force; 0 for none.
long restrict_files(std::span<const AllowedFolder> allowed) {
  const long abi =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi < 1) {
    return 0;
  }
  const Ruleset wanted{
      .files = kHandled | (abi >= 2 ? kRefer : 0) | (abi >= 3 ? kTruncate : 0),
      .network = kTcp,
      .scopes = kScopes,
  };
  const Fd ruleset(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &wanted, size_for(abi), 0)));
  if (!ruleset.is_open()) {
    return 0;
  }
  for (const AllowedFolder& folder : allowed) {
    landlock_path_beneath_attr rule{};
    rule.allowed_access = rights_of(folder.what, wanted.files);
    rule.parent_fd = folder.fd;
    // A folder that cannot be allowed would make all that follows fail: better not confined.
    if (::syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) !=
        0) {
      return 0;
    }
  }
  return ::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) == 0 ? abi : 0;
}

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;  // no filter
#endif

// What leads out of the process, and what would get around this filter.
constexpr auto kForbidden = std::to_array<std::uint32_t>({
  SYS_socket, SYS_connect, SYS_bind, SYS_execve, SYS_execveat, SYS_process_vm_writev,
      SYS_io_uring_setup,
#if !defined(COMPATPACK_LEAK_CHECKS)
      SYS_ptrace,  // which the sanitizers look for leaks with
#endif
});

constexpr std::uint32_t kX32 = 0x40000000;  // system calls of x86-64's 32-bit twin, from here on

sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

sock_filter give(std::uint32_t verdict) { return BPF_STMT(BPF_RET | BPF_K, verdict); }

/// Goes on behind the next instruction unless the loaded number is `value`.
sock_filter unless_equal(std::uint32_t value) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
}

bool restrict_calls() {
  if (kArchitecture == 0) {
    return false;
  }
  constexpr std::uint32_t kDeny = SECCOMP_RET_ERRNO | 1U;  // EPERM
  std::array<sock_filter, 6 + 2 * kForbidden.size() + 1> filter{
      load(offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
      give(kDeny),  // a call of another architecture
      load(offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32, 0, 1),
      give(kDeny),
  };
  std::size_t at = 6;
  for (const std::uint32_t call : kForbidden) {
    filter[at++] = unless_equal(call);
    filter[at++] = give(kDeny);
  }
  filter[at] = give(SECCOMP_RET_ALLOW);
  const sock_fprog program{.len = filter.size(), .filter = filter.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

Fd open_to_allow(const std::string& path) {
  return Fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

std::string confine(std::span<const AllowedFolder> allowed) {
  // Both want it: no program that is started gains rights. None is started anyway.
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return {};
  }
  const long abi = restrict_files(allowed);
  std::string in_force = abi > 0 ? "Landlock " + std::to_string(abi) : "";
  if (restrict_calls()) {
    in_force += in_force.empty() ? "seccomp" : " and seccomp";
  }
  return in_force;
}

}  // namespace compatpack::io
