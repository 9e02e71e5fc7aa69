package dev.millrace.connectors.parquet;

import com.github.luben.zstd.Zstd;
import java.io.IOException;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.compression.CompressionCodecFactory.BytesInputCompressor;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.xerial.snappy.Snappy;

/** How pages are packed; by the libraries themselves, as Parquet's own way to them leads through Hadoop. */
public enum ParquetCompression {
    ZSTD(CompressionCodecName.ZSTD),
    SNAPPY(CompressionCodecName.SNAPPY),
    NONE(CompressionCodecName.UNCOMPRESSED);

    private static final int LEVEL = 3; // zstd's default

    private final CompressionCodecName codec;

    ParquetCompression(CompressionCodecName codec) {
        this.codec = codec;
    }

    BytesInputCompressor compressor() {
        return new BytesInputCompressor() {
            @Override
            public BytesInput compress(BytesInput page) throws IOException {
                return switch (ParquetCompression.this) {
                    case ZSTD -> BytesInput.from(Zstd.compress(page.toByteArray(), LEVEL));
                    case SNAPPY -> BytesInput.from(Snappy.compress(page.toByteArray()));
                    case NONE -> page;
                };
            }

            @Override
            public CompressionCodecName getCodecName() {
                return codec;
            }

            @Override
            public void release() {}
        };
    }
}
