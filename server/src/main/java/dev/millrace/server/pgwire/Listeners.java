package dev.millrace.server.pgwire;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The sockets on which a server waits for clients, all of one port. Safe on any thread. */
public final class Listeners implements AutoCloseable {
    private final List<Channel> channels;

    private Listeners(List<Channel> channels) {
        this.channels = channels;
    }

    /**
     * Listens on each of the names or addresses; {@code *} is every interface. A name may stand for several addresses
     * ({@code localhost} for 127.0.0.1 and ::1), of which one has to be had.
     *
     * @param port 0 for one that is free, the same on all
     * @throws MillraceException if the port cannot be had
     */
    public static Listeners bind(ServerBootstrap bootstrap, List<String> addresses, int port) {
        List<Channel> channels = new ArrayList<>();
        Listeners listeners = new Listeners(channels);
        for (String address : addresses) {
            @Nullable Throwable failure = null;
            int before = channels.size();
            for (InetSocketAddress place : places(address, port)) {
                int wanted = channels.isEmpty() ? port : listeners.port();
                ChannelFuture bound = bootstrap
                        .bind(new InetSocketAddress(place.getAddress(), wanted))
                        .awaitUninterruptibly();
                if (bound.isSuccess()) {
                    channels.add(bound.channel());
                } else if (failure == null) {
                    failure = bound.cause();
                }
            }
            if (channels.size() == before) {
                listeners.close();
                Throwable why = failure == null ? new IOException("it has no address") : failure;
                throw MillraceException.external(
                        SqlState.CONNECTION_FAILURE,
                        "cannot listen on " + address + ":" + port + ": " + why.getMessage(),
                        why);
            }
        }
        return listeners;
    }

    /** Where nobody can come from outside. */
    static Listeners none() {
        return new Listeners(List.of());
    }

    private static List<InetSocketAddress> places(String address, int port) {
        if (address.equals("*")) {
            return List.of(new InetSocketAddress(port));
        }
        try {
            List<InetSocketAddress> places = new ArrayList<>();
            for (InetAddress one : InetAddress.getAllByName(address)) {
                places.add(new InetSocketAddress(one, port));
            }
            return places;
        } catch (UnknownHostException e) {
            throw MillraceException.external(
                    SqlState.CONNECTION_FAILURE, "cannot listen on \"" + address + "\": there is no such name", e);
        }
    }

    /** The port that clients connect to; 0 if there is none. */
    public int port() {
        return channels.isEmpty() ? 0 : ((InetSocketAddress) channels.get(0).localAddress()).getPort();
    }

    /** Takes no more clients; those that are there stay. */
    @Override
    public void close() {
        channels.forEach(channel -> channel.close().awaitUninterruptibly());
    }
}
