/* A server whose only cost is the latency it is told to have.

   tile_server PORT LATENCY_MS SIZE_BYTES      (port 0: any; the one that was taken is printed on a line)

   Every GET is answered with SIZE_BYTES after LATENCY_MS; the first eight bytes are the number in its path, as hexadecimal
   digits. One thread and one epoll. Each connection has one request at a time, as HTTP/1.1 without pipelining has.
   Since the latency is the same for all, requests fall due in the order in which they came: the queue is a ring, and a
   timer stands at its head. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FDS = 16384, RING = 32768, REQUEST = 8192, TAG = 8 };

struct connection {
    uint64_t serial; /* tells a descriptor that was used again from the one that waits in the ring */
    size_t read, sent;
    int answering;
    char tag[TAG + 1];
    char request[REQUEST + 1];
};

struct due {
    int fd;
    uint64_t serial, at_ns;
};

static struct connection *connections[MOST_FDS];
static struct due ring[RING];
static unsigned first, last;
static uint64_t serials;
static char *body, header[128];
static size_t size, header_size;
static int epoll;

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void hang_up(int fd) {
    close(fd);
    free(connections[fd]);
    connections[fd] = NULL;
}

static void watch(int fd, uint32_t events, int operation) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    epoll_ctl(epoll, operation, fd, &event);
}

/* Sends as much of header, tag and body as the socket takes. */
static void answer(int fd) {
    struct connection *c = connections[fd];
    size_t total = header_size + size;
    while (c->sent < total) {
        struct iovec parts[3] = {{header, header_size}, {c->tag, TAG}, {body + TAG, size - TAG}};
        int part = 0;
        size_t skip = c->sent;
        while (skip >= parts[part].iov_len)
            skip -= parts[part++].iov_len;
        parts[part].iov_base = (char *)parts[part].iov_base + skip;
        parts[part].iov_len -= skip;
        struct msghdr message = {.msg_iov = parts + part, .msg_iovlen = (size_t)(3 - part)};
        ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL);
        if (n < 0) {
            if (errno == EAGAIN)
                watch(fd, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
            else
                hang_up(fd);
            return;
        }
        c->sent += (size_t)n;
    }
    c->answering = 0;
    c->read = 0;
    watch(fd, EPOLLIN, EPOLL_CTL_MOD);
}

static void receive(int fd, uint64_t latency_ns) {
    struct connection *c = connections[fd];
    ssize_t n = recv(fd, c->request + c->read, REQUEST - c->read, 0);
    if (n <= 0) {
        if (n == 0 || errno != EAGAIN)
            hang_up(fd);
        return;
    }
    c->read += (size_t)n;
    c->request[c->read] = 0;
    if (!strstr(c->request, "\r\n\r\n"))
        return;
    char *path = strchr(c->request, '/');
    snprintf(c->tag, sizeof c->tag, "%08lx", path ? strtoul(path + 1, NULL, 10) & 0xffffffffu : 0);
    c->sent = 0;
    c->answering = 1;
    if (latency_ns == 0) {
        answer(fd);
        return;
    }
    ring[last++ % RING] = (struct due){fd, c->serial, now_ns() + latency_ns};
}

static void greet(int listener) {
    int fd, yes = 1;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        if (fd >= MOST_FDS || !(connections[fd] = calloc(1, sizeof **connections))) {
            close(fd);
            continue;
        }
        connections[fd]->serial = ++serials;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        watch(fd, EPOLLIN, EPOLL_CTL_ADD);
    }
}

int main(int count, char **arguments) {
    if (count != 4 || (size = strtoul(arguments[3], NULL, 10)) <= TAG) {
        fprintf(stderr, "usage: %s PORT LATENCY_MS SIZE_BYTES (more than %d)\n", arguments[0], TAG);
        return 2;
    }
    uint64_t latency_ns = (uint64_t)(strtod(arguments[2], NULL) * 1e6);
    signal(SIGPIPE, SIG_IGN);
    body = malloc(size);
    for (size_t i = 0; i < size; i++)
        body[i] = (char)(i * 2654435761u >> 13);
    header_size = (size_t)snprintf(header, sizeof header, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", size);

    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    at.sin_port = htons((uint16_t)atoi(arguments[1]));
    socklen_t length = sizeof at;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 4096) ||
        getsockname(listener, (struct sockaddr *)&at, &length)) {
        perror("tile_server");
        return 1;
    }
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    watch(listener, EPOLLIN, EPOLL_CTL_ADD);
    watch(timer, EPOLLIN, EPOLL_CTL_ADD);
    printf("%d\n", ntohs(at.sin_port));
    fflush(stdout);

    struct epoll_event events[256];
    for (;;) {
        if (first != last) {
            uint64_t at_ns = ring[first % RING].at_ns;
            struct itimerspec when = {.it_value = {(time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u)}};
            timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
        }
        int ready = epoll_wait(epoll, events, 256, -1);
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                greet(listener);
            } else if (fd == timer) {
                uint64_t ticks;
                if (read(timer, &ticks, sizeof ticks) < 0)
                    continue;
            } else if (connections[fd]) {
                if (events[i].events & (EPOLLHUP | EPOLLERR))
                    hang_up(fd);
                else if ((events[i].events & EPOLLOUT) && connections[fd]->answering)
                    answer(fd);
                else if (events[i].events & EPOLLIN)
                    receive(fd, latency_ns);
            }
        }
        for (uint64_t now = now_ns(); first != last && ring[first % RING].at_ns <= now; first++) {
            struct due *due = &ring[first % RING];
            if (connections[due->fd] && connections[due->fd]->serial == due->serial)
                answer(due->fd);
        }
    }
}
