#include "conformance/host/starts.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "conformance/host/confine.h"

namespace lockstep::judge {
namespace {

// Room for one file in a message.
union FileRoom {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

msghdr message_of(iovec& byte, FileRoom& room) {
  msghdr message{};
  message.msg_iov = &byte;
  message.msg_iovlen = 1;
  message.msg_control = room.bytes;
  message.msg_controllen = sizeof room.bytes;
  return message;
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> all;
  std::error_code ended;  // is set where the process has ended meanwhile
  for (const auto& task :
      std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", ended)) {
    std::ifstream list(task.path() / "children");
    for (pid_t child; list >> child;) all.push_back(child);
  }
  return all;
}

int descendants() {
  std::vector<pid_t> all = children_of(getpid());
  for (std::size_t k = 0; k < all.size() && all.size() <= std::size_t{kMostProcesses}; ++k)
    for (const pid_t child : children_of(all[k])) all.push_back(child);
  return static_cast<int>(all.size());
}

// The process or thread that the system started last; 0 where it does not say so.
pid_t newest_process() {
  pid_t pid = 0;
  std::string other;
  std::ifstream("/proc/loadavg") >> other >> other >> other >> other >> pid;
  return pid;
}

}  // namespace

int ask_before_starting() {
#ifdef SECCOMP_USER_NOTIF_FLAG_CONTINUE
  // A signal must not make a start that waits fail; Linux 5.19 knows this flag.
  constexpr unsigned kWaitsKillable = 1u << 5;
  for (const bool without_new_rights : {false, true}) {
    if (without_new_rights) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    for (const unsigned more : {kWaitsKillable, 0u}) {
      const int file =
          filter_starts(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER | more);
      if (file >= 0) return file;
    }
    if (errno != EACCES) return -1;
  }
#endif
  return -1;
}

void hand_over(int socket, int file) {
  char none = 0;
  iovec byte{&none, sizeof none};
  FileRoom room{};
  msghdr message = message_of(byte, room);
  if (file >= 0) {
    room.header.cmsg_level = SOL_SOCKET;
    room.header.cmsg_type = SCM_RIGHTS;
    room.header.cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(&room.header), &file, sizeof file);
  } else {
    message.msg_controllen = 0;
  }
  sendmsg(socket, &message, MSG_NOSIGNAL);
  close(socket);
  if (file >= 0) close(file);
}

int taken_over(int socket) {
  char none = 0;
  iovec byte{&none, sizeof none};
  FileRoom room{};
  msghdr message = message_of(byte, room);
  int file = -1;
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) > 0 && CMSG_FIRSTHDR(&message))
    std::memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
  return file;
}

bool Starts::let() {
#ifdef SECCOMP_USER_NOTIF_FLAG_CONTINUE
  // The kernel's question may be longer than this program's headers say.
  union {
    seccomp_notif question;
    char room[1024];
  } asked{};
  if (ioctl(file_, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) return true;  // it has ended
  if (left_ == 0) left_ = kMostProcesses - descendants();
  if (left_ <= 0) return false;
  --left_;
  seccomp_notif_resp answer{asked.question.id, 0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE};
  ioctl(file_, SECCOMP_IOCTL_NOTIF_SEND, &answer);
#endif
  return true;
}

// Whether the backend's group has few processes. This takes a fraction of the time that it takes to
// find all descendants.
bool Starts::is_group_small(pid_t newest) {
  const auto is_in = [&](pid_t pid) {
    if (getpgid(pid) != backend_) return false;
    return tgkill(pid, pid, 0) == 0 || errno == EPERM;  // others are threads
  };
  std::erase_if(group_, [&](pid_t pid) { return !is_in(pid); });
  if (newest < newest_) newest_ = 0;  // the system has begun again with low numbers
  while (newest_ < newest && group_.size() <= kMostProcesses)
    if (is_in(++newest_)) group_.insert(newest_);
  return group_.size() <= kMostProcesses;
}

bool Starts::count() {
  constexpr std::clock_t kShare = 4;  // a pause is at least so many times as long as counting took
  const std::clock_t begin = std::clock();
  const pid_t newest = newest_process();
  if (all_found_ && newest > 0 && newest == newest_) return true;  // none has been started since
  if (!is_group_small(newest)) return false;
  // While all are looked for, a group that grows would become thousands.
  all_found_ = group_.size() <= largest_;
  largest_ = std::max(largest_, group_.size());
  const bool few = !all_found_ || descendants() <= kMostProcesses;
  const std::clock_t took_ms = (std::clock() - begin) * 1000 / CLOCKS_PER_SEC;
  pause_ms_ = std::max(kPauseMs, static_cast<int>(kShare * took_ms));
  return few;
}

void Starts::end() {
  if (file_ >= 0) close(file_);
  file_ = -1;
}

}  // namespace lockstep::judge
