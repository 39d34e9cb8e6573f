import os, threading, time

read_end, write_end = os.pipe()
data = bytes(200000)

def read():
    while os.read(read_end, 4096):
        time.sleep(0.0002)

threading.Thread(target=read).start()
print('ready', flush=True)
writes = short = 0
while writes < 20 or not os.path.exists('stop'):
    writes += 1
    short += os.write(write_end, data) != len(data)
os.close(write_end)
print('short', short)
