package dev.millrace.storage.log;

import dev.millrace.storage.disk.RealDisk;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** Appends to the log of a directory until it is killed, and prints each number that is durable. */
final class AppendingProcess {
    private AppendingProcess() {}

    public static void main(String[] arguments) {
        WriteAheadLog log = WriteAheadLog.open(
                new RealDisk(Path.of(arguments[0])),
                WriteAheadLogOptions.standard().withSizes(1 << 20, 1 << 20));
        for (int t = 0; t < 4; t++) {
            Thread writer = new Thread(() -> {
                while (true) {
                    int length = (int) (System.nanoTime() % 3000);
                    ByteBuffer record = ByteBuffer.allocate(8 + length);
                    for (int i = 8; i < 8 + length; i++) {
                        record.put(i, (byte) (length + i));
                    }
                    long number = log.append(LogMode.AWAITED, record.putInt(0, length));
                    log.awaitDurable(number);
                    synchronized (AppendingProcess.class) {
                        System.out.println(number);
                        System.out.flush();
                    }
                }
            });
            writer.start();
        }
    }
}
