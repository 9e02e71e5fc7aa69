package dev.millrace.server.pgwire;

import io.netty.channel.Channel;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The connections whose clients have not said yet who they are. They take no client's place: when there are too many, the one
 * that has taken longest is cut off. Safe on any thread.
 */
final class Startups {
    private final int most;
    private final Set<Channel> channels = new LinkedHashSet<>();

    Startups(int most) {
        this.most = most;
    }

    synchronized void add(Channel channel) {
        channels.add(channel);
        if (channels.size() > most) {
            Channel oldest = channels.iterator().next();
            channels.remove(oldest);
            oldest.close();
        }
    }

    synchronized void remove(Channel channel) {
        channels.remove(channel);
    }
}
