// SPDX-License-Identifier: Apache-2.0

// Confines itself to a folder, and then tries to get out:
//
//   confinement_tool FOLDER OTHER
//
// First line: what is in force, "" for nothing. Then a line for each thing that it did: its name
// and "yes" where it could, or the system's reason. OTHER is a folder beside FOLDER.

#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <string>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compatpack/io/confinement.hpp"

using namespace compatpack::io;

namespace {

void tell(const char* what, bool done) {
  std::cout << what << ": " << (done ? "yes" : std::strerror(errno)) << '\n';
}

bool write_file(const std::string& path, int flags) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0600));
  return fd.is_open() && ::write(fd.get(), "x", 1) == 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    return 2;
  }
  const std::string folder = argv[1];
  const std::string other = argv[2];
  const Fd parent = open_to_allow(folder + "/..");
  const Fd fd = open_to_allow(folder);
  const std::array allowed{AllowedFolder{fd.get(), AllowedFolder::What::contents},
                           AllowedFolder{parent.get(), AllowedFolder::What::entries}};
  std::cout << confine(allowed) << '\n';

  tell("make a file inside", write_file(folder + "/a", O_CREAT));
  tell("rename inside", ::rename((folder + "/a").c_str(), (folder + "/b").c_str()) == 0);
  tell("link inside", ::symlink("b", (folder + "/c").c_str()) == 0);
  tell("remove inside", ::unlink((folder + "/c").c_str()) == 0);
  tell("rename the folder", ::rename(folder.c_str(), (folder + "-new").c_str()) == 0 &&
                                ::rename((folder + "-new").c_str(), folder.c_str()) == 0);
  tell("make a file outside", write_file(other + "/a", O_CREAT));
  tell("write a file outside", write_file(other + "/there", 0));
  tell("remove outside", ::unlink((other + "/there").c_str()) == 0);
  tell("link outside", ::symlink("b", (other + "/c").c_str()) == 0);
  tell("read outside", Fd(::open((other + "/there").c_str(), O_RDONLY | O_CLOEXEC)).is_open());
  tell("make a device inside", ::mkfifo((folder + "/p").c_str(), 0600) == 0);
  tell("socket", Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)).is_open());
  std::cout.flush();
  std::array<char*, 2> words{argv[0], nullptr};
  ::execv("/bin/true", words.data());
  tell("start a program", false);
  return 0;
}
