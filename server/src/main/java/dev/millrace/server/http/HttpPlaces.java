package dev.millrace.server.http;

import io.netty.channel.Channel;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * The places for connections, in all and of one address. Who finds none gets one of a few more, where only the server's health is
 * told and the oldest makes room for the newest: so a probe is answered while others hold what there is. Safe on any thread.
 */
final class HttpPlaces {
    static final int RESERVED = 32;

    private static final int NETWORK_BYTES = 8; // of IPv6, where one client has a whole network of addresses

    private final int most;
    private final int mostPerAddress;
    private final Map<Channel, ByteBuffer> ordinary = new HashMap<>();
    private final Map<ByteBuffer, Integer> byAddress = new HashMap<>();
    private final Deque<Channel> reserved = new ArrayDeque<>();

    HttpPlaces(int most, int mostPerAddress) {
        this.most = most;
        this.mostPerAddress = mostPerAddress;
    }

    /** Gives a place until the channel is closed; false if it is only one for the server's health. */
    boolean take(Channel channel) {
        boolean isOrdinary = take(channel, address(channel.remoteAddress()));
        channel.closeFuture().addListener(closed -> leave(channel));
        return isOrdinary;
    }

    private synchronized boolean take(Channel channel, ByteBuffer address) {
        int ofAddress = byAddress.getOrDefault(address, 0);
        if (ordinary.size() < most && ofAddress < mostPerAddress) {
            ordinary.put(channel, address);
            byAddress.put(address, ofAddress + 1);
            return true;
        }
        reserved.add(channel);
        if (reserved.size() > RESERVED) {
            reserved.remove().close();
        }
        return false;
    }

    private synchronized void leave(Channel channel) {
        ByteBuffer address = ordinary.remove(channel);
        if (address == null) {
            reserved.remove(channel);
            return;
        }
        byAddress.computeIfPresent(address, (any, count) -> count > 1 ? count - 1 : null);
    }

    private static ByteBuffer address(SocketAddress remote) {
        if (!(remote instanceof InetSocketAddress socket) || socket.getAddress() == null) {
            return ByteBuffer.allocate(0);
        }
        InetAddress address = socket.getAddress();
        byte[] bytes = address.getAddress();
        return ByteBuffer.wrap(bytes, 0, address instanceof Inet6Address ? NETWORK_BYTES : bytes.length)
                .slice();
    }
}
