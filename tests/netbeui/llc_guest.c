/* A program for the guest of tests/netbeui/llc2.py: LLC type 2 connections through Linux's socket interface (AF_LLC, SOCK_STREAM).
 *
 *   llc_guest accept SAP SEND RECEIVE WINDOW          waits for a connection
 *   llc_guest connect MAC SAP SEND RECEIVE WINDOW     opens one
 *
 * It sends SEND bytes of the pattern and reads until RECEIVE bytes arrived (0: until the peer disconnects), then closes.
 * WINDOW 0 leaves the kernel's. It prints one line: "end sent=N received=N false=N errno=N". */
#include <errno.h>
#include <linux/llc.h>
#include <net/if_arp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static long sent, received, wrong;

static int finish(int error)
{
	printf("end sent=%ld received=%ld false=%ld errno=%d\n", sent, received, wrong, error);
	fflush(stdout);
	return error != 0;
}

static unsigned char pattern(long at)
{
	return at ^ at >> 8 ^ at >> 16;
}

static struct sockaddr_llc address(int sap)
{
	struct sockaddr_llc own;
	memset(&own, 0, sizeof own);
	own.sllc_family = AF_LLC;
	own.sllc_arphrd = ARPHRD_ETHER;
	own.sllc_sap = sap;
	return own;
}

static int transfer(int link, long send_bytes, long receive_bytes)
{
	unsigned char buffer[1400];
	while (sent < send_bytes) {
		long count = send_bytes - sent < (long)sizeof buffer ? send_bytes - sent : (long)sizeof buffer;
		for (long i = 0; i < count; i++)
			buffer[i] = pattern(sent + i);
		long done = send(link, buffer, count, 0);
		if (done < 0)
			return errno;
		sent += done;
	}
	while (!receive_bytes || received < receive_bytes) {
		long count = recv(link, buffer, sizeof buffer, 0);
		if (count < 0)
			return errno;
		if (count == 0)
			break;
		for (long i = 0; i < count; i++)
			wrong += buffer[i] != pattern(received + i);
		received += count;
	}
	/* close() sends DISC at once, even if I frames are not acknowledged */
	usleep(receive_bytes ? 3000000 : 0);
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_llc own, peer;
	struct timeval patience = {25, 0};
	int accepts = argc == 6 && !strcmp(argv[1], "accept");
	if (!accepts && (argc != 7 || strcmp(argv[1], "connect")))
		return 2;
	char **numbers = argv + (accepts ? 2 : 3);
	int sap = strtol(numbers[0], NULL, 0), window = atoi(numbers[3]);
	int link = socket(AF_LLC, SOCK_STREAM, 0);
	signal(SIGPIPE, SIG_IGN);
	if (link < 0 || setsockopt(link, SOL_SOCKET, SO_BINDTODEVICE, "eth0", 5))
		return finish(errno);
	/* for accept() */
	setsockopt(link, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	own = address(sap);
	if (bind(link, (void *)&own, sizeof own))
		return finish(errno);
	if (accepts) {
		socklen_t length = sizeof peer;
		if (listen(link, 1))
			return finish(errno);
		printf("listening\n");
		fflush(stdout);
		link = accept(link, (void *)&peer, &length);
		if (link < 0)
			return finish(errno);
	}
	/* accepted sockets do not inherit options */
	if (window && setsockopt(link, SOL_LLC, LLC_OPT_TX_WIN, &window, sizeof window))
		return finish(errno);
	setsockopt(link, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	if (!accepts) {
		unsigned char *m = (unsigned char *)own.sllc_mac;
		peer = own;
		m = (unsigned char *)peer.sllc_mac;
		if (sscanf(argv[2], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", m, m + 1, m + 2, m + 3, m + 4, m + 5) != 6)
			return 2;
		if (connect(link, (void *)&peer, sizeof peer))
			return finish(errno);
	}
	int error = transfer(link, strtol(numbers[1], NULL, 0), strtol(numbers[2], NULL, 0));
	if (close(link) && !error)
		error = errno;
	return finish(error);
}
