package dev.millrace.server.gateway;

import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.millrace.edge.queue.RecordKind;
import dev.millrace.edge.wire.Message;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.testing.time.Eventually;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Connections of one device whose steps come in an order of the test's: each channel does what it has to do when it is told to. */
class EdgeConnectionTest {
    @TempDir
    private Path directory;

    private TestDatabase server;
    private EdgeGateway gateway;

    @BeforeEach
    void begin() {
        server = new TestDatabase(directory);
        server.run("CREATE STREAM plant (temp DOUBLE PRECISION) WITH (connector = 'edge')");
        gateway = EdgeGateway.listen(
                server.database(), new Authentication.Trust(), List.of("localhost"), 0, 10, Optional.empty());
    }

    @AfterEach
    void end() {
        gateway.close();
        server.close();
    }

    /** A connection that a test drives. */
    private final class Channel implements DeviceChannel {
        private final ConcurrentLinkedQueue<Runnable> work = new ConcurrentLinkedQueue<>();
        private final ConcurrentLinkedQueue<Message> told = new ConcurrentLinkedQueue<>();
        private final EdgeConnection connection = new EdgeConnection(gateway, this);
        private volatile boolean open = true; // written by who closes it, read by the test

        @Override
        public void execute(Runnable task) {
            work.add(task);
        }

        @Override
        public void read(boolean wanted) {}

        @Override
        public boolean isWritable() {
            return true;
        }

        @Override
        public boolean isOpen() {
            return open;
        }

        @Override
        public void admit() {}

        @Override
        public boolean mayBe(String device) {
            return true;
        }

        @Override
        public String address() {
            return "";
        }

        @Override
        public void send(Message message) {
            told.add(message);
        }

        @Override
        public void sendLast(Message message) {
            told.add(message);
            close();
        }

        @Override
        public void close() {
            if (open) {
                open = false;
                connection.ended();
            }
        }

        void say(Message message) {
            connection.take(message);
        }

        /** Works until it was told such a message. */
        void hears(Class<? extends Message> kind) {
            Eventually.holds(kind.getSimpleName() + " of " + told, () -> {
                workAll();
                return told.stream().anyMatch(kind::isInstance);
            });
        }

        void workAll() {
            for (Runnable next = work.poll(); next != null; next = work.poll()) {
                next.run();
            }
        }
    }

    private Channel greeted() {
        Channel channel = new Channel();
        channel.say(new Message.Hello(Message.VERSION, "test", "millrace", "", "millrace", 5, 0));
        channel.hears(Message.Welcome.class);
        return channel;
    }

    /** It was slow to be checked; meanwhile the device has come again. */
    @Test
    void aConnectionThatHasEndedDoesNotTakeStreamsFromTheNext() {
        Message.Open open = new Message.Open(0, "plant", 0, Message.Open.WINDOWS);
        Channel ended = greeted();
        ended.say(open);
        Eventually.holds("what is checked is there to be gone on with", () -> ended.work.size() >= 2);
        Channel next = greeted();
        assertFalse(ended.isOpen(), "a device has one");
        next.say(open);
        next.hears(Message.Opened.class);
        ended.workAll();
        next.say(new Message.Rows(0, 1, 1, RecordKind.SHED, 10, 0, 0, new byte[0]));
        next.hears(Message.Acknowledged.class);
    }
}
