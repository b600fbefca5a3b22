// node --import on-loopback.mjs <server>: listens on the loopback interface alone, and says on which port.
import net from 'node:net';

const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (port, ...rest) {
  this.once('listening', () => console.log(`port ${this.address().port}`));
  return listen.call(this, { port: Number(port), host: '127.0.0.1' }, ...rest);
};
