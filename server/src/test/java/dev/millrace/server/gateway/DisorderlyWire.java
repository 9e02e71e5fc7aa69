package dev.millrace.server.gateway;

import dev.millrace.edge.link.DeviceWire;
import dev.millrace.edge.wire.Message;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** A link that exchanges, repeats and cuts what it is given. */
final class DisorderlyWire implements DeviceWire {
    private final DeviceWire to;
    private final Random random;
    private final Deque<Message> late = new ArrayDeque<>();
    private boolean cut;

    DisorderlyWire(DeviceWire to, Random random) {
        this.to = to;
        this.random = random;
    }

    @Override
    public void send(Message message) {
        if (message instanceof Message.Rows && random.nextInt(200) == 0) {
            cut = true;
        }
        if (message instanceof Message.Rows && random.nextInt(4) == 0) {
            late.add(message);
            return;
        }
        to.send(message);
        if (message instanceof Message.Rows && random.nextInt(4) == 0) {
            to.send(message);
        }
        if (random.nextInt(3) == 0) {
            releaseLate();
        }
    }

    private void releaseLate() {
        List<Message> all = new ArrayList<>(late);
        late.clear();
        java.util.Collections.shuffle(all, random);
        all.forEach(to::send);
    }

    @Override
    public Optional<Message> receive() {
        releaseLate();
        return to.receive();
    }

    @Override
    public Optional<String> failure() {
        return cut ? Optional.of("it was cut") : to.failure();
    }

    @Override
    public long bytes() {
        return to.bytes();
    }

    @Override
    public void close() {
        to.close();
    }
}
